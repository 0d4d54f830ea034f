#include "engine/local/advance.h"

#include "engine/local/cells.h"
#include "engine/local/events.h"
#include "engine/local/guards.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

bool advance_node(Core& core, Cell& slot, const Facts::Node& fact, Wakes& wakes, Spent& spent) {
  Cell& node = core.table.cell(fact.node);
  if (node.word.load(std::memory_order_relaxed) != fact.word || at(node, node_field::kArrival) != fact.arrival)
    return false;
  if (fact.dead) {
    if (keep_ticket(core, node)) return false;
    const CellIndex text = low(at(node, node_field::kText));
    leave_line(core, slot, fact.node, &wakes);
    spent.text(adopt_text(core, text));  // only what no node refers to any more
    spent.node(fact.node);
    return true;
  }
  if (grantee_of(slot) != fact.node) return false;
  withdraw_grant(core, slot, wakes);
  say(core, slot, Epoch{at(slot, slot_field::kEpoch)}, EventKind::passed_over, "the first in line does not stir");
  return true;
}

bool end_those_together(Core& core, const Cell& slot, const Facts& facts, Spent& spent) {
  bool done = false;
  for (const Facts::Over& over : facts.together) {
    if (spent.full()) return true;
    const Cell& holding = core.table.cell(over.slot);
    if (holding.word.load(std::memory_order_relaxed) != over.word || at(holding, slot_field::kEpoch) != over.epoch ||
        !is_same_guard(holding, over.guard) ||
        &core.table.cell(holding.owner.load(std::memory_order_relaxed)) != &slot) {
      continue;
    }
    take_away_together(core, over.slot, over.kind, over.why, spent);
    done = true;
  }
  return done;
}

}  // namespace

void say(Core& core, const Cell& slot, Epoch epoch, EventKind kind, std::string_view why, std::string_view owner) {
  std::array<char, kInlineKey> head{};
  const std::string_view key = copy_bytes(&slot.body[slot_field::kKey], at(slot, slot_field::kText) >> 48, head);
  record(core, {.kind = kind,
                .key = key,
                .hash = at(slot, slot_field::kHash),
                .epoch = epoch.value(),
                .wall = core.wall_ns(),
                .pid = static_cast<std::uint64_t>(core.self().pid),
                .owner = owner.empty() ? std::string_view(core.owner_label) : owner,
                .why = why});
}

bool keep_ticket(Core& core, Cell& node) noexcept {
  const std::uint64_t text = at(node, node_field::kText);
  const auto flags = static_cast<std::uint16_t>(text >> 32);
  if ((flags & kTicket) == 0 || (flags & kAbandoned) != 0) return false;
  const std::int64_t now = core.monotonic_ns();
  if ((flags & kAbsent) == 0) {
    node.body[node_field::kAbsentSince].store(static_cast<std::uint64_t>(now), std::memory_order_relaxed);
    node.body[node_field::kText].fetch_or(std::uint64_t{kAbsent} << 32, std::memory_order_relaxed);
    return true;
  }
  return now - static_cast<std::int64_t>(at(node, node_field::kAbsentSince)) <
         static_cast<std::int64_t>(at(node, node_field::kGrace));
}

void give_slot(Core& core, CellIndex slot) {
  const Cell& cell = core.table.cell(slot);
  if ((at(cell, slot_field::kText) >> 48) > kInlineKey) give_text(core, low(at(cell, slot_field::kKeyRest)));
  give_cell(core, slot);
}

void take_away(Core& core, Cell& slot, EventKind kind, std::string_view why, Spent& spent) {
  spent.knock_at(CommitWord::unpacked(slot.word.load(std::memory_order_relaxed)).member);
  say(core, slot, Epoch{at(slot, slot_field::kEpoch)}, kind, why);
  spent.text(end_holding(core, slot));
}

bool advance(Core& core, Bucket& bucket, CellIndex index, const Facts& facts, Wakes& wakes, Spent& spent,
             std::int64_t now) {
  Cell& slot = core.table.cell(index);
  bool done = false;
  if (facts.over && facts.over->slot == index && slot.word.load(std::memory_order_relaxed) == facts.over->word &&
      at(slot, slot_field::kEpoch) == facts.over->epoch && is_same_guard(slot, facts.over->guard)) {
    take_away(core, slot, facts.over->kind, facts.over->why, spent);
    done = true;
  }
  done = end_those_together(core, slot, facts, spent) || done;
  for (const Facts::Node& fact : facts.nodes) done = advance_node(core, slot, fact, wakes, spent) || done;
  keep_place_instead(core, slot);
  if (is_offered(slot) && grantee_of(slot) == 0) {
    done = grant_next(core, slot, wakes, now) == Turn::granted || done;
  }
  if (end_if_idle(core, bucket, index)) {
    spent.slot = index;
    done = true;
  }
  return done;
}

void settle(Core& core, Wakes& wakes, Spent& spent) {
  wakes.send();
  for (std::size_t i = 0; i < spent.knock_count; ++i) {
    Word32& inbox = core.table.row(spent.knocks[i].number).inbox;
    inbox.fetch_add(1, std::memory_order_release);
    core.words->wake(inbox, 1);
  }
  for (std::size_t i = 0; i < spent.text_count; ++i) give_text(core, spent.texts[i]);
  for (std::size_t i = 0; i < spent.node_count; ++i) give_cell(core, spent.nodes[i]);
  if (spent.slot != 0) give_slot(core, spent.slot);
  spent = Spent{};
  tell_watchers(core);
}

}  // namespace tenure::local
