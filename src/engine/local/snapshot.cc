#include "engine/local/snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/limits.h"
#include "engine/local/cells.h"
#include "engine/local/line.h"
#include "engine/local/membership.h"
#include "engine/local/together.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

constexpr int kAttempts = 20'000;  // of some 100 ns each, and 5 ms where somebody is inside for long
constexpr int kSleeps = 400;

NodeView copy_node(const Table& table, CellIndex index) {
  const Cell& cell = table.cell(index);
  NodeView view;
  view.index = index;
  view.word = CommitWord::unpacked(cell.word.load(std::memory_order_relaxed));
  view.arrival = at(cell, node_field::kArrival);
  view.claim = claim_id(at(cell, node_field::kNonce), at(cell, node_field::kCounter));
  view.terms = terms_from(at(cell, node_field::kTerms), at(cell, node_field::kTtl));
  view.offered_at = at(cell, node_field::kOfferedAt);
  view.since = static_cast<std::int64_t>(at(cell, node_field::kSince));
  const std::uint64_t text = at(cell, node_field::kText);
  view.flags = static_cast<std::uint16_t>(text >> 32);
  view.text = load_text(table, low(text));
  return view;
}

// As much of the line as is looked at.
void copy_line(const Table& table, const Cell& slot, SlotView& view) {
  const auto is_node = [&](CellIndex index) { return index != 0 && index <= table.last_cell(); };
  bool grantee_seen = false;
  CellIndex node = first_in_line(slot);
  while (is_node(node) && view.line.size() < kShownLine) {
    view.line.push_back(copy_node(table, node));
    grantee_seen = grantee_seen || node == view.grantee;
    node = next_in_line(table.cell(node));
  }
  // Behind many that were passed over: it must be seen as well that it is dead, or does not stir.
  if (!grantee_seen && is_node(view.grantee)) view.line.push_back(copy_node(table, view.grantee));
}

// Whatever is read here may be torn; the caller looks at the sequence afterwards.
void copy_holding(const Table& table, CellIndex index, HoldingView& view) {
  const Cell& cell = table.cell(index);
  view.index = index;
  view.word = CommitWord::unpacked(cell.word.load(std::memory_order_relaxed));
  view.epoch = Epoch{at(cell, slot_field::kEpoch)};
  view.claim = claim_id(at(cell, slot_field::kNonce), at(cell, slot_field::kCounter));
  view.since = static_cast<std::int64_t>(at(cell, slot_field::kSince));
  view.monotonic = static_cast<std::int64_t>(at(cell, slot_field::kMonotonic));
  view.boot = static_cast<std::int64_t>(at(cell, slot_field::kBoot));
  view.guard = at(cell, slot_field::kGuard);
  view.terms = terms_from(at(cell, slot_field::kTerms), at(cell, slot_field::kTtl));
  const std::uint64_t text = at(cell, slot_field::kText);
  view.flags = static_cast<std::uint16_t>(text >> 32);
  view.text_at = low(text);
  view.text = load_text(table, low(text));
}

template <class Visit>
void each_together(const Table& table, const Cell& slot, Visit visit) {
  CellIndex index = first_together(slot);
  for (std::size_t step = 0; index != 0 && index <= table.last_cell() && step < limits::kTogether; ++step) {
    if (!visit(index)) return;
    index = next_together(table.cell(index));
  }
}

void copy_together(const Table& table, const Cell& slot, SlotView& view) {
  each_together(table, slot, [&](CellIndex index) {
    HoldingView& one = view.together.emplace_back();
    copy_holding(table, index, one);
    one.number = slot_number_of(table.cell(index));
    return true;
  });
  std::sort(view.together.begin(), view.together.end(),
            [](const HoldingView& a, const HoldingView& b) { return a.epoch < b.epoch; });
}

SlotView copy_slot(const Table& table, CellIndex index) {
  const Cell& cell = table.cell(index);
  SlotView view;
  copy_holding(table, index, view);
  const std::size_t length = std::min<std::size_t>(at(cell, slot_field::kText) >> 48, Key::kMaxBytes);
  view.key = read_bytes(&cell.body[slot_field::kKey], std::min(length, kInlineKey));
  if (length > kInlineKey) view.key += load_text(table, low(at(cell, slot_field::kKeyRest)));
  view.grantee = grantee_of(cell);
  view.waiting = length_of_line(cell);
  copy_line(table, cell, view);
  copy_together(table, cell, view);
  return view;
}

bool is_of(const Cell& cell, const ClaimId& claim, Epoch epoch) {
  return at(cell, slot_field::kEpoch) == epoch.value() &&
         claim_id(at(cell, slot_field::kNonce), at(cell, slot_field::kCounter)) == claim;
}

Error never_still(const Core& core, std::uint32_t word) {
  Error error{Code::section_busy, "the bucket of this key changes all the time", "try again", nullptr};
  if (word == 0) return error;
  const std::uint16_t number = number_in_lock(word);
  if (number >= core.table.limits().members) return error;
  const std::uint32_t generation = generation_of(core.table.state(number).load(std::memory_order_acquire));
  const MemberSeen seen = see_member(core, {number, generation});
  const bool stopped = is_stopped(core, seen);
  const std::string pid = std::to_string(seen.identity.pid);
  error.message = std::string("the bucket of this key is held by ") + (stopped ? "stopped " : "") + "member pid " + pid;
  if (stopped) error.remedy = "continue it: kill -CONT " + pid;
  return error;
}

// Calls `read` until nothing changed in the bucket meanwhile.
template <class Read>
Result<std::invoke_result_t<Read>> steady(Core& core, std::uint32_t index, Read read) {
  const Bucket& bucket = core.table.bucket(index);
  int sleeps = 0;
  for (int attempt = 0; attempt < kAttempts && sleeps < kSleeps; ++attempt) {
    const std::uint32_t before = bucket.sequence.load(std::memory_order_acquire);
    if ((before & 1) != 0) {
      if (attempt % 64 != 63) continue;
      const std::array watched{env::Watched{&bucket.sequence, before}};
      core.words->wait(watched, std::chrono::milliseconds(5));
      ++sleeps;
      const std::uint32_t owner = bucket.lock.load(std::memory_order_acquire);
      if (owner == 0 || !owner_is_dead(core, owner)) continue;
      if (!core.me.none()) {
        (void)Section::take_over(core, index, owner);
        continue;
      }
      // Who may not repair sees it as it was left: nobody changes it while the word stays.
      auto left = read();
      if (bucket.lock.load(std::memory_order_acquire) == owner) return left;
      continue;
    }
    auto view = read();
    std::atomic_thread_fence(std::memory_order_acquire);
    if (bucket.sequence.load(std::memory_order_relaxed) == before) return view;
  }
  return fail(never_still(core, bucket.lock.load(std::memory_order_relaxed)));
}

}  // namespace

ClaimId claim_id(std::uint64_t nonce, std::uint64_t counter) {
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &nonce, 8);
  std::memcpy(bytes.data() + 8, &counter, 8);
  return ClaimId(bytes);
}

std::uint64_t packed(const Terms& terms) {
  return static_cast<std::uint64_t>(terms.mode) | static_cast<std::uint64_t>(terms.at_loss) << 8 |
         std::uint64_t{terms.slots} << 32;
}

Terms terms_from(std::uint64_t packed, std::uint64_t ttl) {
  Terms terms;
  terms.mode = (packed & 0xff) == 1 ? Mode::shared : Mode::exclusive;
  const auto at_loss = packed >> 8 & 0xff;
  terms.at_loss = at_loss <= 2 ? static_cast<AtLoss>(at_loss) : AtLoss::terminate;
  terms.slots = static_cast<std::uint32_t>(packed >> 32);
  if (ttl != 0) terms.ttl = Duration{static_cast<std::int64_t>(ttl)};
  return terms;
}

Result<std::optional<SlotView>> read_key(Core& core, std::string_view key) {
  const Wanted wanted(key);
  const std::uint32_t bucket = core.table.bucket_of(wanted.hash);
  return steady(core, bucket, [&]() -> std::optional<SlotView> {
    const CellIndex index = find_slot(core, core.table.bucket(bucket), wanted);
    if (index == 0) return std::nullopt;
    return copy_slot(core.table, index);
  });
}

Result<std::optional<HoldingView>> read_lease(Core& core, std::string_view key, const ClaimId& claim, Epoch epoch) {
  const Wanted wanted(key);
  const std::uint32_t bucket = core.table.bucket_of(wanted.hash);
  const Table& table = core.table;
  return steady(core, bucket, [&]() -> std::optional<HoldingView> {
    const CellIndex slot = find_slot(core, table.bucket(bucket), wanted);
    if (slot == 0) return std::nullopt;
    CellIndex found = !is_offered(table.cell(slot)) && is_of(table.cell(slot), claim, epoch) ? slot : 0;
    each_together(table, table.cell(slot), [&](CellIndex index) {
      if (is_of(table.cell(index), claim, epoch)) found = index;
      return found == 0;
    });
    if (found == 0) return std::nullopt;
    HoldingView view;
    copy_holding(table, found, view);
    return view;
  });
}

Result<std::optional<SlotView>> read_slot(Core& core, CellIndex index) {
  const Cell& cell = core.table.cell(index);
  const std::uint32_t home = cell.home.load(std::memory_order_acquire);
  if (home >= core.table.limits().buckets) return std::nullopt;
  return steady(core, home, [&]() -> std::optional<SlotView> {
    SlotView view = copy_slot(core.table, index);
    if (view.word.kind != Kind::slot || cell.home.load(std::memory_order_relaxed) != home) return std::nullopt;
    return view;
  });
}

}  // namespace tenure::local
