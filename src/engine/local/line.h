// Line: those who wait for a key, in the order of their arrival, and the passing of the key along it. Everything here
// is called inside the section of the key's bucket.
//
// The order of stores is what makes death at any point harmless: see README.md.
#pragma once

#include <array>

#include "engine/local/section.h"

namespace tenure::local {

inline constexpr std::uint32_t kMaxLine = 10'000;

// Who is to be woken once the section is left: nodes whose word was raised. Beyond its room the rest are left to their
// own bounds.
class Wakes {
 public:
  explicit Wakes(Core& core) : core_(core) {}
  ~Wakes() { send(); }
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;
  void raise(Cell& node) noexcept {
    node.futex.fetch_add(1, std::memory_order_release);
    if (count_ < words_.size()) words_[count_++] = &node.futex;
  }
  // After the section is left.
  void send() noexcept {
    for (std::size_t i = 0; i < count_; ++i) core_.words->wake(*words_[i], 1);
    count_ = 0;
  }

 private:
  Core& core_;
  std::array<const Word32*, 16> words_{};
  std::size_t count_ = 0;
};

// The fields of a slot's line.
CellIndex first_in_line(const Cell& slot) noexcept;
CellIndex grantee_of(const Cell& slot) noexcept;  // 0: nobody
inline CellIndex next_in_line(const Cell& node) noexcept {
  return node.next.load(std::memory_order_relaxed);
}
inline CellIndex before_in_line(const Cell& node) noexcept {
  return node.home.load(std::memory_order_relaxed);
}
inline std::uint16_t flags_of(const Cell& node) noexcept {
  return static_cast<std::uint16_t>(node.body[node_field::kText].load(std::memory_order_relaxed) >> 32);
}
inline std::uint32_t length_of_line(const Cell& slot) noexcept {
  return slot.futex.load(std::memory_order_relaxed);
}

// The next epoch; none when the durable ceiling is reached: leave, raise it, come again.
Epoch take_epoch(const Core& core) noexcept;
inline bool epochs_left(const Core& core) noexcept {
  const Header& header = core.table.header();
  return header.epoch.load(std::memory_order_relaxed) < header.ceiling.load(std::memory_order_acquire);
}

// A node whose word says waiting, at the end of the line.
void enter_line(const Core& core, Cell& slot, CellIndex node) noexcept;
// The same ahead of all others.
void enter_line_first(const Core& core, Cell& slot, CellIndex node) noexcept;
// Out of the line; its word becomes `cached` by us; a grant to it is withdrawn. Its successor must watch another member
// now, and is raised; `wakes` is nullptr where that is the same member: of a grantee that became the holder.
void leave_line(const Core& core, Cell& slot, CellIndex node, Wakes* wakes) noexcept;
// A grant that was not taken up goes back; the node keeps its place.
void withdraw_grant(const Core& core, Cell& slot, Wakes& wakes) noexcept;

// An offer to a ticket that nobody polls becomes a place that is kept for it, where there is room for more.
void keep_place_instead(const Core& core, Cell& slot) noexcept;

// Held becomes offered: the former holder has it no more from here on. Its texts are returned, to be given back.
CellIndex end_holding(Core& core, Cell& slot) noexcept;

enum class Turn : std::uint8_t {
  granted,
  nobody,  // is in line who may live
  waits,  // the first must wait for those who hold the key together; or no epoch is left (it is raised, and sees to it)
};
// Places beside those who hold a key together that are kept for tickets which nobody polls just now.
struct Kept {
  std::uint64_t terms = 0;  // packed()
  std::uint32_t count = 0;
};
// The key is offered to nobody: grants it to the first in line who may live, if it has room. A ticket that nobody
// polls, of one who would hold it together with others, keeps one place, and those behind go on while there are more:
// `kept` says for how many that is so.
Turn grant_next(const Core& core, Cell& slot, Wakes& wakes, std::int64_t monotonic_now, Kept* kept = nullptr) noexcept;

// The slot is offered to nobody, nobody holds it and nobody waits: it ends. Its word becomes `cached` by us; true then.
bool end_if_idle(const Core& core, Bucket& bucket, CellIndex slot) noexcept;

}  // namespace tenure::local
