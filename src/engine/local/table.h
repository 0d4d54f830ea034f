// Table: a view of the shared memory, and nothing more.
#pragma once

#include <algorithm>
#include <span>

#include "engine/local/layout.h"

namespace tenure::local {

class Table {
 public:
  Table() = default;
  // `memory` begins with a valid Header.
  explicit Table(std::byte* memory)
      : header_(reinterpret_cast<Header*>(memory)),
        limits_(header_->limits),
        places_(Places::of(limits_)),
        states_(reinterpret_cast<Word64*>(memory + places_.states)),
        rows_(reinterpret_cast<MemberRow*>(memory + places_.rows)),
        bitmap_(reinterpret_cast<Word64*>(memory + places_.bitmap)),
        buckets_(reinterpret_cast<Bucket*>(memory + places_.buckets)),
        events_(reinterpret_cast<EventLine*>(memory + places_.events)),
        cells_(reinterpret_cast<Cell*>(memory + places_.cells)) {}

  Header& header() const { return *header_; }
  // As they were when the table was mapped: what lies in memory that others may write is not trusted with bounds.
  const Limits& limits() const { return limits_; }
  const Places& places() const { return places_; }

  Word64& state(std::uint16_t member) const { return states_[member]; }
  MemberRow& row(std::uint16_t member) const { return rows_[member]; }
  Cell& cell(CellIndex index) const { return cells_[index]; }
  Bucket& bucket(std::uint32_t index) const { return buckets_[index]; }
  std::uint32_t bucket_of(std::uint64_t hash) const {
    return static_cast<std::uint32_t>(hash) & (limits().buckets - 1);
  }
  EventLine& event(std::uint64_t line) const { return events_[line & (limits().events - 1)]; }
  std::span<Word64> bitmap() const { return {bitmap_, (limits().cells + 64) / 64}; }
  // The highest cell that may be touched.
  CellIndex last_cell() const { return std::min(header_->ready_cells.load(std::memory_order_acquire), limits_.cells); }

 private:
  Header* header_ = nullptr;
  Limits limits_{};
  Places places_{};
  Word64* states_ = nullptr;
  MemberRow* rows_ = nullptr;
  Word64* bitmap_ = nullptr;
  Bucket* buckets_ = nullptr;
  EventLine* events_ = nullptr;
  Cell* cells_ = nullptr;
};

}  // namespace tenure::local
