#include "engine/local/line.h"

#include "engine/local/buckets.h"
#include "engine/local/cells.h"
#include "engine/local/membership.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

using namespace slot_field;

void set_line(Cell& slot, CellIndex first, CellIndex grantee) noexcept {
  slot.body[kLine].store(two(first, grantee), std::memory_order_relaxed);
}

// Whether the key may be granted to it without asking the system: a mistake costs time, not exclusion.
bool may_be_granted(const Core& core, const Cell& node, std::int64_t now) noexcept {
  const CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
  if (word.kind != Kind::node) return false;
  const std::uint16_t flags = flags_of(node);
  if ((flags & (kPassed | kAbandoned)) != 0) return false;
  if ((flags & kAbsent) != 0) {
    const auto since = static_cast<std::int64_t>(node.body[node_field::kAbsentSince].load(std::memory_order_relaxed));
    const auto grace = static_cast<std::int64_t>(node.body[node_field::kGrace].load(std::memory_order_relaxed));
    return now - since < grace;
  }
  return !suspicious(core, word.member);
}

std::uint64_t terms_of(const Cell& node) noexcept {
  return node.body[node_field::kTerms].load(std::memory_order_relaxed);
}

// A ticket that nobody polls, and with a place kept for it there is room for another like it.
bool is_kept_a_place(const Core& core, const Cell& slot, const Cell& node, const Kept& kept) noexcept {
  if ((flags_of(node) & kAbsent) == 0) return false;
  const Terms terms = terms_from(terms_of(node), 0);
  if (!rules::together(terms)) return false;
  return room_in(core, slot, terms, 0, {terms_of(node), kept.count + 1}) == rules::Room::beside;
}

}  // namespace

CellIndex first_in_line(const Cell& slot) noexcept {
  return low(slot.body[kLine].load(std::memory_order_relaxed));
}

CellIndex grantee_of(const Cell& slot) noexcept {
  return high(slot.body[kLine].load(std::memory_order_relaxed));
}

Epoch take_epoch(const Core& core) noexcept {
  Header& header = core.table.header();
  const std::uint64_t bound = header.ceiling.load(std::memory_order_acquire);
  if (header.epoch.load(std::memory_order_relaxed) >= bound) return Epoch{};
  const std::uint64_t epoch = header.epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  // A number that was drawn and is not given out does no harm.
  return epoch <= bound ? Epoch{epoch} : Epoch{};
}

void enter_line(const Core& core, Cell& slot, CellIndex index) noexcept {
  Cell& node = core.table.cell(index);
  const CellIndex last = slot.owner.load(std::memory_order_relaxed);
  node.next.store(0, std::memory_order_relaxed);
  node.home.store(last, std::memory_order_relaxed);
  if (last != 0) {
    core.table.cell(last).next.store(index, std::memory_order_relaxed);
  } else {
    set_line(slot, index, grantee_of(slot));
  }
  TENURE_POINT("half in line");
  slot.owner.store(index, std::memory_order_relaxed);
  slot.futex.store(length_of_line(slot) + 1, std::memory_order_relaxed);
}

void enter_line_first(const Core& core, Cell& slot, CellIndex index) noexcept {
  Cell& node = core.table.cell(index);
  const CellIndex first = first_in_line(slot);
  node.next.store(first, std::memory_order_relaxed);
  node.home.store(0, std::memory_order_relaxed);
  if (first != 0) {
    core.table.cell(first).home.store(index, std::memory_order_relaxed);
  } else {
    slot.owner.store(index, std::memory_order_relaxed);
  }
  TENURE_POINT("half ahead of the line");
  set_line(slot, index, grantee_of(slot));
  slot.futex.store(length_of_line(slot) + 1, std::memory_order_relaxed);
}

void leave_line(const Core& core, Cell& slot, CellIndex index, Wakes* wakes) noexcept {
  Cell& node = core.table.cell(index);
  const CellIndex next = next_in_line(node);
  const CellIndex before = before_in_line(node);
  // From here on it is no node; what is linked to it is mended by us, or by a repair.
  node.word.store(CommitWord{Kind::cached, 0, core.me}.packed(), std::memory_order_release);
  TENURE_POINT("half out of line");
  const CellIndex grantee = grantee_of(slot) == index ? 0 : grantee_of(slot);
  set_line(slot, before == 0 ? next : first_in_line(slot), grantee);
  if (before != 0) core.table.cell(before).next.store(next, std::memory_order_relaxed);
  if (next != 0) {
    core.table.cell(next).home.store(before, std::memory_order_relaxed);
    if (wakes != nullptr) wakes->raise(core.table.cell(next));
  } else {
    slot.owner.store(before, std::memory_order_relaxed);
  }
  const std::uint32_t length = length_of_line(slot);
  slot.futex.store(length > 0 ? length - 1 : 0, std::memory_order_relaxed);
}

void withdraw_grant(const Core& core, Cell& slot, Wakes& wakes) noexcept {
  const CellIndex index = grantee_of(slot);
  if (index == 0) return;
  Cell& node = core.table.cell(index);
  CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
  word.state = static_cast<std::uint8_t>(NodeState::waiting);
  node.body[node_field::kText].fetch_or(std::uint64_t{kPassed} << 32, std::memory_order_relaxed);
  node.word.store(word.packed(), std::memory_order_release);
  TENURE_POINT("grant withdrawn");
  set_line(slot, first_in_line(slot), 0);
  wakes.raise(node);
}

void keep_place_instead(const Core& core, Cell& slot) noexcept {
  const CellIndex index = is_offered(slot) ? grantee_of(slot) : 0;
  if (index == 0) return;
  Cell& node = core.table.cell(index);
  if (!is_kept_a_place(core, slot, node, {})) return;
  CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
  word.state = static_cast<std::uint8_t>(NodeState::waiting);
  node.word.store(word.packed(), std::memory_order_release);
  TENURE_POINT("a place kept instead");
  set_line(slot, first_in_line(slot), 0);
}

CellIndex end_holding(Core& core, Cell& slot) noexcept {
  slot.word.store(CommitWord{Kind::slot, static_cast<std::uint8_t>(SlotState::offered), {}}.packed(),
                  std::memory_order_release);
  TENURE_POINT("holding ended");
  const std::uint64_t text = slot.body[kText].load(std::memory_order_relaxed);
  slot.body[kTtl].store(0, std::memory_order_relaxed);
  slot.body[kTogether].store(0, std::memory_order_relaxed);
  slot.body[kGuard].store(0, std::memory_order_relaxed);
  // Flags and text go; the length of the key stays.
  slot.body[kText].store(text >> 48 << 48, std::memory_order_relaxed);
  return adopt_text(core, low(text));
}

Turn grant_next(const Core& core, Cell& slot, Wakes& wakes, std::int64_t now, Kept* kept_out) noexcept {
  Kept kept;
  for (CellIndex index = first_in_line(slot); index != 0; index = next_in_line(core.table.cell(index))) {
    Cell& node = core.table.cell(index);
    if (!may_be_granted(core, node, now)) continue;
    if (first_together(slot) != 0 || kept.count != 0) {
      const rules::Room room = room_in(core, slot, terms_from(terms_of(node), 0), given_up_by(core, node), kept);
      if (room == rules::Room::taken) return Turn::waits;
      if (room == rules::Room::other_number) {
        wakes.raise(node);  // it sees so, and leaves
        continue;
      }
    }
    if (is_kept_a_place(core, slot, node, kept)) {
      kept = {terms_of(node), kept.count + 1};
      if (kept_out != nullptr) *kept_out = kept;
      continue;
    }
    const Epoch epoch = take_epoch(core);
    if (epoch.none()) {
      wakes.raise(node);
      return Turn::waits;
    }
    slot.body[kEpoch].store(epoch.value(), std::memory_order_release);
    TENURE_POINT("epoch written");
    set_line(slot, first_in_line(slot), index);
    node.body[node_field::kOfferedAt].store(static_cast<std::uint64_t>(now), std::memory_order_relaxed);
    CommitWord word = CommitWord::unpacked(node.word.load(std::memory_order_relaxed));
    word.state = static_cast<std::uint8_t>(NodeState::granted);
    node.word.store(word.packed(), std::memory_order_release);
    TENURE_POINT("granted");
    wakes.raise(node);
    return Turn::granted;
  }
  return Turn::nobody;
}

bool end_if_idle(const Core& core, Bucket& bucket, CellIndex index) noexcept {
  Cell& slot = core.table.cell(index);
  const CommitWord word = CommitWord::unpacked(slot.word.load(std::memory_order_relaxed));
  if (word.kind != Kind::slot || word.state != static_cast<std::uint8_t>(SlotState::offered)) return false;
  if (first_in_line(slot) != 0 || first_together(slot) != 0) return false;
  slot.word.store(CommitWord{Kind::cached, 0, core.me}.packed(), std::memory_order_release);
  TENURE_POINT("slot ended");
  unlink_slot(core, bucket, index);
  return true;
}

}  // namespace tenure::local
