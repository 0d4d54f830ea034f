// Claiming what the same process, owner and part has already: anew, to write what it reads, to read what it writes.
#include <algorithm>

#include "engine/local/claiming.h"
#include "engine/local/guards.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"

namespace tenure::local {

// The lease that this very claim has already, by process, owner and part.
const HoldingView* Claiming::own_of(const SlotView& seen) const {
  const rules::Claimant claimant{request_.owner, request_.part, core_.self()};
  const auto is_own = [&](const HoldingView& lease) {
    if (lease.word.member != core_.me || guarded(core_, lease)) return false;
    const auto verdict = rules::decide_claim(rules::Expiry::proof, occupant_of(core_, lease, Care::quick), claimant);
    return verdict.answer == rules::ClaimVerdict::Answer::reclaim;
  };
  if (seen.held()) return is_own(seen) ? &seen : nullptr;
  const auto found = std::find_if(seen.together.begin(), seen.together.end(), is_own);
  return found == seen.together.end() ? nullptr : &*found;
}

// From what it holds together with others to what it claims now, at once: not past one to whom it is offered already.
bool Claiming::may_change(const Cell& slot, const HoldingView& own) const {
  if (room_in(core_, slot, request_.terms, own.index) != rules::Room::beside) return false;
  return grantee_of(slot) == 0 || rules::coexist(own.terms, request_.terms);
}

// The place of a ticket that stands ahead of the line already is for this again.
void Claiming::give_up_at_last() const {
  Cell& node = core_.table.cell(node_);
  if (at(node, node_field::kArrival) != 0) return;
  node.body[node_field::kGivesUpEpoch].store(gives_up_.epoch.value(), std::memory_order_relaxed);
  node.body[node_field::kGivesUp].store(gives_up_.holding, std::memory_order_relaxed);
}

// True: look again, or it is granted.
Result<bool> Claiming::reclaim(const SlotView& seen) {
  const bool first = !std::exchange(own_looked_for_, true);
  const HoldingView* own = own_of(seen);
  if (own == nullptr) return first && !seen.together.empty();
  now_ = read_clocks();
  Wakes wakes(core_);
  auto section = Section::enter(core_, bucket_, bound());
  if (!section) return fail(section.error());
  const Cell& lease = core_.table.cell(own->index);
  if (!is_same(lease, *own) || !is_same_guard(lease, own->guard)) return true;
  const CellIndex index = own->word.kind == Kind::slot ? own->index : lease.owner.load(std::memory_order_relaxed);
  Cell& slot = core_.table.cell(index);
  if (node_ != 0 && !is_our_node(index)) return true;
  if (own->word.kind == Kind::holding && !may_change(slot, *own)) {
    gives_up_ = {own->index, own->epoch};
    if (node_ != 0) give_up_at_last();
    return false;
  }
  const Epoch epoch = take_epoch(core_);
  if (epoch.none()) return true;
  std::uint32_t number = kNoNumber;
  if (own->word.kind == Kind::slot) {
    spent_.knock_at(core_.me);  // the former handle learns it
    spent_.text(end_holding(core_, slot));
  } else {
    number = give_up(slot, own->index);
  }
  slot.body[slot_field::kEpoch].store(epoch.value(), std::memory_order_release);
  hold(index, epoch, number);
  reclaimed_ = true;
  if (node_ != 0) {
    leave_line(core_, slot, node_, &wakes);
    spent_.node(std::exchange(node_, 0));
  }
  if (is_offered(slot) && grantee_of(slot) == 0) (void)grant_next(core_, slot, wakes, now_.monotonic);
  section->leave();
  return true;
}

// Our own former holding goes, in favour of what we get; its handle learns it. Returns the number of its slot.
std::uint32_t Claiming::give_up(Cell& slot, CellIndex own) {
  const std::uint32_t number = slot_number_of(core_.table.cell(own));
  spent_.knock_at(core_.me);
  spent_.text(end_together(core_, slot, own));
  spent_.node(own);
  return number;
}

}  // namespace tenure::local
