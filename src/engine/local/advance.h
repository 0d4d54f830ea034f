// Advance: what is due on a key is done, whoever comes by: a dead holder's lease ends, dead waiters leave the line, a
// grant that nobody takes up goes on, and the key goes to the next.
#pragma once

#include "engine/local/judge.h"
#include "engine/local/line.h"

namespace tenure::local {

// What is given back after the section.
struct Spent {
  std::array<CellIndex, 34> texts{};
  std::array<CellIndex, 34> nodes{};
  std::size_t text_count = 0, node_count = 0;
  CellIndex slot = 0;
  std::array<MemberId, 8> knocks{};  // at those whose lease was taken away
  std::size_t knock_count = 0;
  // No more than this is taken away at a time: who has more to take comes again.
  bool full() const noexcept { return knock_count == knocks.size(); }
  void knock_at(MemberId member) noexcept {
    if (!full()) knocks[knock_count++] = member;
  }
  void text(CellIndex cell) noexcept {
    if (cell != 0 && text_count < texts.size()) texts[text_count++] = cell;
  }
  void node(CellIndex cell) noexcept {
    if (node_count < nodes.size()) nodes[node_count++] = cell;
  }
};
// Outside of a section: gives everything back, knocks at the members that lost, tells those who watch.
void settle(Core& core, Wakes& wakes, Spent& spent);

// Inside the section of the slot. Facts that no longer hold are left aside. True: something was done.
bool advance(Core& core, Bucket& bucket, CellIndex slot, const Facts& facts, Wakes& wakes, Spent& spent,
             std::int64_t monotonic_now);

// Says in the ring what happened to the key of the slot, and to whom: to us, where that is empty. Inside its section.
void say(Core& core, const Cell& slot, Epoch epoch, EventKind kind, std::string_view why, std::string_view owner = {});
// Ends the holding of a slot for somebody else's sake, and says why in the ring.
void take_away(Core& core, Cell& slot, EventKind kind, std::string_view why, Spent& spent);

inline bool is_offered(const Cell& slot) noexcept {
  return CommitWord::unpacked(slot.word.load(std::memory_order_relaxed)).state ==
         static_cast<std::uint8_t>(SlotState::offered);
}
// A node with a ticket whose poller is gone stays for its grace: it is marked, and true is returned. Inside the
// section.
bool keep_ticket(Core& core, Cell& node) noexcept;
// Outside of a section: a slot that ended, and the rest of its key.
void give_slot(Core& core, CellIndex slot);

}  // namespace tenure::local
