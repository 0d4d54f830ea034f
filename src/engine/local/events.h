// Events: what happened to the keys of a space, in a ring that anybody who may read the table can read, and that
// nobody need be alive for. The oldest give way.
//
// An event takes one line of 64 bytes, and one more for each 56 bytes of key, owner and reason beyond the first 16.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/local/core.h"

namespace tenure::local {

struct Record {
  EventKind kind = EventKind::claimed;
  std::string_view key;
  std::uint64_t hash = 0;
  std::uint64_t epoch = 0;
  std::int64_t wall = 0;
  std::uint64_t pid = 0;
  std::string_view owner;
  std::string_view why;
};

// Inside a section or not; writes only to the ring. Wakes nobody: see tell_watchers.
void record(const Core& core, const Record& event) noexcept;
// After a section: wakes those who watch the ring, if there are any.
void tell_watchers(const Core& core) noexcept;

// The ring will be written to again and again: see SharedMemory::bring_in.
void bring_in_events(const Core& core) noexcept;

// What stands in the ring from `from` on (a count of lines), oldest first; lines that were overwritten are left out.
struct Read {
  std::vector<Event> events;
  std::uint64_t next = 0;  // where to go on
  bool missed = false;     // some were overwritten before they were read
};
Read read_events(const Core& core, std::uint64_t from);

}  // namespace tenure::local
