// Repair: a bucket made anew from the commit words of its cells, after somebody died while changing it.
//
// It looks at every cell of the table, which takes milliseconds; the sections of other buckets go on meanwhile, and
// none of them can make a cell ours or take one of ours away.
#include <algorithm>
#include <map>
#include <vector>

#include "engine/local/advance.h"
#include "engine/local/buckets.h"
#include "engine/local/cells.h"
#include "engine/local/events.h"
#include "engine/local/line.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

struct Found {
  std::vector<CellIndex> nodes, holdings;
};
using Lines = std::map<CellIndex, Found>;  // by slot

Kind kind_of(const Cell& cell) {
  return CommitWord::unpacked(cell.word.load(std::memory_order_acquire)).kind;
}

// The slots of this bucket, linked again; and their nodes and holdings, unsorted.
Lines gather(const Core& core, std::uint32_t bucket_index) {
  const Table& table = core.table;
  Bucket& bucket = table.bucket(bucket_index);
  for (auto& entry : bucket.entries) entry.store(0, std::memory_order_relaxed);
  bucket.overflow.store(0, std::memory_order_relaxed);
  Lines lines;
  for (CellIndex index = 1; index <= table.last_cell(); ++index) {
    const Cell& cell = table.cell(index);
    if (kind_of(cell) != Kind::slot || cell.home.load(std::memory_order_relaxed) != bucket_index) continue;
    link_slot(core, bucket, index);
    lines[index];
  }
  if (lines.empty()) return lines;
  for (CellIndex index = 1; index <= table.last_cell(); ++index) {
    const Cell& cell = table.cell(index);
    const Kind kind = kind_of(cell);
    if (kind != Kind::node && kind != Kind::holding) continue;
    const auto line = lines.find(cell.owner.load(std::memory_order_relaxed));
    if (line == lines.end()) continue;
    (kind == Kind::node ? line->second.nodes : line->second.holdings).push_back(index);
  }
  return lines;
}

bool is_granted(const Cell& node) {
  return CommitWord::unpacked(node.word.load(std::memory_order_relaxed)).state ==
         static_cast<std::uint8_t>(NodeState::granted);
}

bool is_claim_of(const Cell& lease, const Cell& node) {
  return at(lease, slot_field::kNonce) == at(node, node_field::kNonce) &&
         at(lease, slot_field::kCounter) == at(node, node_field::kCounter);
}

// The grant was taken up: the slot has the claim of the node, or one of those who hold it together.
bool is_taken_up(const Core& core, const Cell& slot, const std::vector<CellIndex>& holdings, const Cell& node) {
  if (!is_offered(slot)) return is_claim_of(slot, node);
  return std::any_of(holdings.begin(), holdings.end(),
                     [&](CellIndex index) { return is_claim_of(core.table.cell(index), node); });
}

void set_waiting(Cell& node) {
  CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
  word.state = static_cast<std::uint8_t>(NodeState::waiting);
  node.word.store(word.packed(), std::memory_order_release);
}

void relink(Core& core, CellIndex slot_index, Found found, Wakes& wakes) {
  const Table& table = core.table;
  Cell& slot = table.cell(slot_index);
  std::vector<CellIndex>& nodes = found.nodes;
  if (is_offered(slot)) {
    clear_together(slot);
    for (const CellIndex index : found.holdings) link_holding(core, slot, index);
  }
  std::sort(nodes.begin(), nodes.end(), [&](CellIndex a, CellIndex b) {
    return table.cell(a).body[node_field::kArrival].load(std::memory_order_relaxed) <
           table.cell(b).body[node_field::kArrival].load(std::memory_order_relaxed);
  });
  slot.body[slot_field::kLine].store(0, std::memory_order_relaxed);
  slot.owner.store(0, std::memory_order_relaxed);
  slot.futex.store(0, std::memory_order_relaxed);
  CellIndex grantee = 0;
  for (CellIndex index : nodes) {
    Cell& node = table.cell(index);
    if (is_granted(node) && is_taken_up(core, slot, found.holdings, node)) {
      // Its text went to the slot.
      node.word.store(CommitWord{Kind::cached, 0, core.me}.packed(), std::memory_order_release);
      give_cell(core, index);
      continue;
    }
    enter_line(core, slot, index);
    if (!is_granted(node)) continue;
    if (is_offered(slot) && grantee == 0) {
      grantee = index;
    } else {
      set_waiting(node);
    }
  }
  slot.body[slot_field::kLine].store(two(first_in_line(slot), grantee), std::memory_order_relaxed);
  for (CellIndex index = first_in_line(slot); index != 0; index = next_in_line(table.cell(index))) {
    wakes.raise(table.cell(index));
  }
}

}  // namespace

void repair_bucket(Core& core, const Section& section) {
  Wakes wakes(core);
  auto lines = gather(core, section.bucket_index());
  for (auto& [slot_index, found] : lines) {
    Cell& slot = core.table.cell(slot_index);
    relink(core, slot_index, std::move(found), wakes);
    if (!is_offered(slot) || grantee_of(slot) != 0) continue;
    (void)grant_next(core, slot, wakes, core.monotonic_ns());
    if (end_if_idle(core, section.bucket(), slot_index)) give_slot(core, slot_index);
  }
  record(core, {.kind = EventKind::repaired,
                .wall = core.wall_ns(),
                .pid = static_cast<std::uint64_t>(core.self().pid),
                .why = "somebody died while changing a bucket"});
}

}  // namespace tenure::local
