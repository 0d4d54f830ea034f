#include "engine/local/check.h"

#include <set>

#include "engine/local/buckets.h"
#include "engine/local/line.h"
#include "engine/local/local_engine.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

using Faults = std::vector<std::string>;

CommitWord word_of_cell(const Cell& cell) {
  return CommitWord::unpacked(cell.word.load(std::memory_order_acquire));
}

std::set<CellIndex> linked(const Core& core, const Bucket& bucket, Faults& faults) {
  std::set<CellIndex> found;
  const auto note = [&](CellIndex index) {
    if (!found.insert(index).second) faults.push_back("slot " + std::to_string(index) + " is linked twice");
  };
  for (const auto& entry : bucket.entries) {
    if (const CellIndex index = entry.load(std::memory_order_relaxed); index != 0) note(index);
  }
  CellIndex at = bucket.overflow.load(std::memory_order_relaxed);
  while (at != 0 && at <= core.table.last_cell() && found.size() <= core.table.limits().cells) {
    note(at);
    at = core.table.cell(at).next.load(std::memory_order_relaxed);
  }
  return found;
}

void check_line(const Core& core, CellIndex slot_index, Faults& faults) {
  const Cell& slot = core.table.cell(slot_index);
  const std::string name = "line of slot " + std::to_string(slot_index);
  std::uint32_t count = 0;
  CellIndex before = 0;
  std::uint64_t arrival = 0;
  bool saw_grantee = grantee_of(slot) == 0;
  for (CellIndex at = first_in_line(slot); at != 0; at = next_in_line(core.table.cell(at))) {
    const Cell& node = core.table.cell(at);
    if (word_of_cell(node).kind != Kind::node) faults.push_back(name + " has a cell that is no node");
    if (node.owner.load(std::memory_order_relaxed) != slot_index)
      faults.push_back(name + " has a node of another slot");
    if (before_in_line(node) != before) faults.push_back(name + " is not linked backwards");
    const std::uint64_t came = node.body[node_field::kArrival].load(std::memory_order_relaxed);
    if (came < arrival) faults.push_back(name + " is out of order");
    arrival = came;
    before = at;
    saw_grantee = saw_grantee || at == grantee_of(slot);
    const bool granted = word_of_cell(node).state == static_cast<std::uint8_t>(NodeState::granted);
    if (granted != (at == grantee_of(slot))) faults.push_back(name + " and its nodes disagree on the grantee");
    if (++count > kMaxLine) {
      faults.push_back(name + " has no end");
      return;
    }
  }
  if (slot.owner.load(std::memory_order_relaxed) != before) faults.push_back(name + " has another last node");
  if (length_of_line(slot) != count) faults.push_back(name + " is counted wrongly");
  if (!saw_grantee) faults.push_back(name + " does not have its grantee");
}

// Those who hold it together: linked both ways, counted, of one kind, no two in one slot; nobody beside one who is
// alone.
void check_together(const Core& core, CellIndex slot_index, Faults& faults) {
  const Cell& slot = core.table.cell(slot_index);
  const std::string name = "those together of slot " + std::to_string(slot_index);
  std::set<CellIndex> found;
  std::set<std::uint32_t> numbers;
  CellIndex before = 0;
  for (CellIndex index = first_together(slot); index != 0; index = next_together(core.table.cell(index))) {
    if (!found.insert(index).second) return faults.push_back(name + " have no end");
    const Cell& holding = core.table.cell(index);
    if (word_of_cell(holding).kind != Kind::holding) return faults.push_back(name + " have a cell that is no holding");
    if (holding.owner.load(std::memory_order_relaxed) != slot_index)
      faults.push_back(name + " have one of another slot");
    if (low(at(holding, holding_field::kPlace)) != before) faults.push_back(name + " are not linked backwards");
    const Terms theirs = terms_from(at(holding, slot_field::kTerms), 0);
    const Terms first = terms_from(at(core.table.cell(first_together(slot)), slot_field::kTerms), 0);
    if (!rules::coexist(theirs, first)) faults.push_back(name + " cannot stand together");
    if (theirs.slots > 1 &&
        (!numbers.insert(slot_number_of(holding)).second || slot_number_of(holding) >= theirs.slots))
      faults.push_back(name + " have a slot twice, or one too high");
    before = index;
  }
  if (count_together(slot) != found.size()) faults.push_back(name + " are counted wrongly");
  for (CellIndex at = 1; at <= core.table.last_cell(); ++at) {
    const Cell& cell = core.table.cell(at);
    const bool theirs =
        word_of_cell(cell).kind == Kind::holding && cell.owner.load(std::memory_order_relaxed) == slot_index;
    if (theirs && !found.contains(at)) faults.push_back("holding " + std::to_string(at) + " is not linked");
  }
}

void check_bucket(Core& core, std::uint32_t index, Faults& faults) {
  const auto section = Section::enter(core, index, section_bound(core));
  if (!section) {
    faults.push_back("bucket " + std::to_string(index) + ": " + section.error().message);
    return;
  }
  const auto slots = linked(core, section->bucket(), faults);
  for (const CellIndex slot : slots) {
    const Cell& cell = core.table.cell(slot);
    if (word_of_cell(cell).kind != Kind::slot)
      faults.push_back("cell " + std::to_string(slot) + " is linked and no slot");
    if (cell.home.load(std::memory_order_relaxed) != index)
      faults.push_back("slot " + std::to_string(slot) + " is in another bucket");
    check_line(core, slot, faults);
    check_together(core, slot, faults);
  }
  for (CellIndex at = 1; at <= core.table.last_cell(); ++at) {
    const Cell& cell = core.table.cell(at);
    const bool ours = word_of_cell(cell).kind == Kind::slot && cell.home.load(std::memory_order_relaxed) == index;
    if (ours && !slots.contains(at)) faults.push_back("slot " + std::to_string(at) + " is not linked");
  }
}

// Words of those that have it or wait for it: each cell is a text, and of one alone.
class Texts {
 public:
  Texts(const Core& core, Faults& faults) : core_(core), faults_(faults) {}

  void check(CellIndex of, std::size_t field) {
    const std::string name = "text of cell " + std::to_string(of);
    CellIndex at = static_cast<CellIndex>(core_.table.cell(of).body[field].load(std::memory_order_relaxed));
    for (; at != 0; at = core_.table.cell(at).next.load(std::memory_order_relaxed)) {
      if (at > core_.table.last_cell()) return faults_.push_back(name + " goes on beyond the last cell");
      if (word_of_cell(core_.table.cell(at)).kind != Kind::text) {
        return faults_.push_back(name + " has cell " + std::to_string(at) + ", which is no text");
      }
      if (!seen_.insert(at).second) return faults_.push_back(name + " shares cell " + std::to_string(at));
    }
  }

 private:
  const Core& core_;
  Faults& faults_;
  std::set<CellIndex> seen_;
};

void check_texts(const Core& core, Faults& faults) {
  Texts texts(core, faults);
  for (CellIndex at = 1; at <= core.table.last_cell(); ++at) {
    const CommitWord word = word_of_cell(core.table.cell(at));
    const bool held = word.kind == Kind::slot && word.state == static_cast<std::uint8_t>(SlotState::held);
    if (held || word.kind == Kind::holding) texts.check(at, slot_field::kText);
    if (word.kind == Kind::node) texts.check(at, node_field::kText);
    const std::uint64_t length = core.table.cell(at).body[slot_field::kText].load(std::memory_order_relaxed) >> 48;
    if (word.kind == Kind::slot && length > kInlineKey) texts.check(at, slot_field::kKeyRest);
  }
}

// In pockets there is nothing but what is ours and unused, and each cell once.
std::set<CellIndex> check_pockets(Core& core, Faults& faults) {
  std::set<CellIndex> found;
  for (const CellIndex cell : core.pockets.all()) {
    if (!found.insert(cell).second) faults.push_back("cell " + std::to_string(cell) + " is in two pockets");
    if (word_of_cell(core.table.cell(cell)) != CommitWord{Kind::cached, 0, core.me}) {
      faults.push_back("cell " + std::to_string(cell) + " is in a pocket and in use");
    }
  }
  return found;
}

}  // namespace

std::size_t lost_cells(Core& core) {
  Faults faults;
  const auto pockets = check_pockets(core, faults);
  std::size_t lost = 0;
  for (CellIndex at = 1; at <= core.table.last_cell(); ++at) {
    const bool unused = word_of_cell(core.table.cell(at)) == CommitWord{Kind::cached, 0, core.me};
    if (unused && !pockets.contains(at)) ++lost;
  }
  return lost;
}

Core& core_of(Engine& engine) {
  return static_cast<LocalEngine&>(engine).core();
}

std::vector<std::string> faults_in(Core& core) {
  Faults faults;
  std::set<std::uint32_t> homes;
  for (std::uint32_t index = 0; index < core.table.limits().buckets; ++index) {
    const Bucket& bucket = core.table.bucket(index);
    bool used =
        bucket.overflow.load(std::memory_order_acquire) != 0 || bucket.lock.load(std::memory_order_acquire) != 0;
    for (const auto& entry : bucket.entries) used = used || entry.load(std::memory_order_acquire) != 0;
    if (used) homes.insert(index);
  }
  for (CellIndex at = 1; at <= core.table.last_cell(); ++at) {
    const Cell& cell = core.table.cell(at);
    if (word_of_cell(cell).kind == Kind::slot) homes.insert(cell.home.load(std::memory_order_relaxed));
  }
  for (const std::uint32_t home : homes) {
    if (home < core.table.limits().buckets) check_bucket(core, home, faults);
  }
  check_texts(core, faults);
  check_pockets(core, faults);
  return faults;
}

}  // namespace tenure::local
