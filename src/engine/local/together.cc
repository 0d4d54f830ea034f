#include "engine/local/together.h"

#include <array>

#include "base/limits.h"
#include "engine/local/cells.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

using namespace slot_field;
using holding_field::kPlace;

void set_together(Cell& slot, CellIndex first, std::uint32_t count) noexcept {
  slot.body[slot_field::kTogether].store(two(first, count), std::memory_order_relaxed);
}

void set_before(Cell& holding, CellIndex before) noexcept {
  holding.body[kPlace].store(two(before, high(at(holding, kPlace))), std::memory_order_relaxed);
}

// The lowest number that nobody of them has.
std::uint32_t free_number(const Core& core, const Cell& slot) noexcept {
  std::array<std::uint64_t, limits::kTogether / 64> taken{};
  std::size_t steps = 0;
  for (CellIndex index = first_together(slot); index != 0 && steps < limits::kTogether; ++steps) {
    const Cell& holding = core.table.cell(index);
    const std::uint32_t number = slot_number_of(holding);
    if (number < limits::kTogether) taken[number / 64] |= std::uint64_t{1} << (number % 64);
    index = next_together(holding);
  }
  for (std::uint32_t number = 0; number < limits::kTogether; ++number) {
    if ((taken[number / 64] >> (number % 64) & 1) == 0) return number;
  }
  return 0;
}

void unlink_holding(const Core& core, Cell& slot, CellIndex index) noexcept {
  const Cell& holding = core.table.cell(index);
  const CellIndex next = next_together(holding);
  const CellIndex before = low(at(holding, kPlace));
  const std::uint32_t count = count_together(slot);
  set_together(slot, before == 0 ? next : first_together(slot), count > 0 ? count - 1 : 0);
  if (before != 0) core.table.cell(before).next.store(next, std::memory_order_relaxed);
  if (next != 0) set_before(core.table.cell(next), before);
}

}  // namespace

CellIndex first_together(const Cell& slot) noexcept {
  return is_offered(slot) ? low(at(slot, slot_field::kTogether)) : 0;
}

std::uint32_t count_together(const Cell& slot) noexcept {
  return is_offered(slot) ? high(at(slot, slot_field::kTogether)) : 0;
}

std::uint32_t slot_number_of(const Cell& holding) noexcept {
  return high(at(holding, kPlace));
}

rules::Room room_in(const Core& core, const Cell& slot, const Terms& terms, CellIndex giving_up,
                    const Kept& kept) noexcept {
  std::uint32_t count = count_together(slot);
  CellIndex one = first_together(slot);
  if (giving_up != 0 && count > 0) {
    --count;
    if (one == giving_up) one = next_together(core.table.cell(one));
  }
  const bool nobody = count == 0 || one == 0;
  if (nobody && kept.count == 0) return rules::Room::beside;
  const Terms theirs = terms_from(nobody ? kept.terms : at(core.table.cell(one), kTerms), 0);
  const std::uint32_t places = (nobody ? 0 : count) + kept.count;
  const rules::Room room = rules::room_beside(theirs, places, terms);
  return room == rules::Room::beside && places >= limits::kTogether ? rules::Room::taken : room;
}

CellIndex given_up_by(const Core& core, const Cell& node) noexcept {
  const auto index = static_cast<CellIndex>(at(node, node_field::kGivesUp));
  if (index == 0 || index > core.table.last_cell()) return 0;
  const Cell& holding = core.table.cell(index);
  const CommitWord word = CommitWord::unpacked(holding.word.load(std::memory_order_relaxed));
  const bool same = word.kind == Kind::holding && at(holding, kEpoch) == at(node, node_field::kGivesUpEpoch) &&
                    holding.owner.load(std::memory_order_relaxed) == node.owner.load(std::memory_order_relaxed);
  return same ? index : 0;
}

void clear_together(Cell& slot) noexcept {
  set_together(slot, 0, 0);
}

void link_holding(const Core& core, Cell& slot, CellIndex index) noexcept {
  Cell& holding = core.table.cell(index);
  const CellIndex first = first_together(slot);
  holding.next.store(first, std::memory_order_relaxed);
  set_before(holding, 0);
  if (first != 0) set_before(core.table.cell(first), index);
  TENURE_POINT("holding half linked");
  set_together(slot, index, count_together(slot) + 1);
}

void add_holding(Core& core, CellIndex slot_index, CellIndex index, const Claim& claim, Epoch epoch, const Now& now,
                 std::uint32_t number) noexcept {
  Cell& slot = core.table.cell(slot_index);
  Cell& holding = core.table.cell(index);
  const bool numbered = terms_from(claim.terms, 0).slots > 1;
  if (!numbered || number == kNoNumber) number = numbered ? free_number(core, slot) : 0;
  holding.next.store(0, std::memory_order_relaxed);
  holding.home.store(slot.home.load(std::memory_order_relaxed), std::memory_order_relaxed);
  holding.futex.store(0, std::memory_order_relaxed);
  holding.owner.store(slot_index, std::memory_order_relaxed);
  holding.body[kEpoch].store(epoch.value(), std::memory_order_relaxed);
  holding.body[kLine].store(0, std::memory_order_relaxed);
  holding.body[kText].store(0, std::memory_order_relaxed);
  holding.body[kHash].store(at(slot, kHash), std::memory_order_relaxed);
  holding.body[kPlace].store(two(0, number), std::memory_order_relaxed);
  write_claim(core, holding, claim, now);
  TENURE_POINT("holding filled");
  holding.word.store(CommitWord{Kind::holding, 0, core.me}.packed(), std::memory_order_release);
  TENURE_POINT("holding in being");
  link_holding(core, slot, index);
}

CellIndex end_together(Core& core, Cell& slot, CellIndex index) noexcept {
  Cell& holding = core.table.cell(index);
  const CellIndex text = low(at(holding, kText));
  holding.word.store(CommitWord{Kind::cached, 0, core.me}.packed(), std::memory_order_release);
  TENURE_POINT("one of several ended");
  unlink_holding(core, slot, index);
  return adopt_text(core, text);
}

void take_away_together(Core& core, CellIndex index, EventKind kind, std::string_view why, Spent& spent) {
  const Cell& holding = core.table.cell(index);
  Cell& slot = core.table.cell(holding.owner.load(std::memory_order_relaxed));
  spent.knock_at(CommitWord::unpacked(holding.word.load(std::memory_order_relaxed)).member);
  say(core, slot, Epoch{at(holding, kEpoch)}, kind, why);
  spent.text(end_together(core, slot, index));
  spent.node(index);
}

void end_lease(Core& core, const Section& section, const HoldingView& lease, EventKind kind, std::string_view why,
               Wakes& wakes, Spent& spent) {
  const bool alone = lease.word.kind == Kind::slot;
  const CellIndex index = alone ? lease.index : core.table.cell(lease.index).owner.load(std::memory_order_relaxed);
  Cell& slot = core.table.cell(index);
  if (alone) {
    take_away(core, slot, kind, why, spent);
  } else {
    take_away_together(core, lease.index, kind, why, spent);
  }
  keep_place_instead(core, slot);
  if (grantee_of(slot) == 0) (void)grant_next(core, slot, wakes, core.monotonic_ns());
  if (end_if_idle(core, section.bucket(), index)) spent.slot = index;
}

}  // namespace tenure::local
