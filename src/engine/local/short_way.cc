// The short way: a claim and a release of a key that nobody else wants, and the question whether a lease is current.
// Each takes one atomic operation to enter the section and one to leave it.
#include "engine/local/cells.h"
#include "engine/local/events.h"
#include "engine/local/local_engine.h"
#include "engine/local/slots.h"

namespace tenure::local {
namespace {

std::optional<Section> enter(Core& core, std::uint32_t bucket) {
  if (auto section = Section::try_enter(core, bucket)) return section;
  auto waited = Section::enter(core, bucket, section_bound(core));
  if (!waited) return std::nullopt;
  return std::move(*waited);
}

}  // namespace

bool LocalEngine::claim(const Key& key, ShortGrant& grant) noexcept {
  Core& core = *core_;
  if (!core.mark.same() || core.over.load(std::memory_order_relaxed)) return false;
  const Wanted wanted(key.text());
  if (wanted.key.size() > kInlineKey) return false;
  if (grant.place == 0) grant.place = core.pockets.take();
  if (grant.place == 0) return false;
  const auto cell = static_cast<CellIndex>(grant.place);
  Epoch epoch;
  {
    auto section = Section::try_enter(core, core.table.bucket_of(wanted.hash));
    if (section && find_slot(core, section->bucket(), wanted) == 0) epoch = take_epoch(core);
    if (!epoch.none()) {
      const Now now{core.environment.clock->wall_coarse().since_origin.count(), 0, 0};
      const Claim claim{.counter = epoch.value(), .terms = std::uint64_t{1} << 32};
      make_slot(core, *section, cell, wanted, 0, claim, epoch, now);
      record(core, {.kind = EventKind::claimed,
                    .key = wanted.key,
                    .hash = wanted.hash,
                    .epoch = epoch.value(),
                    .wall = now.wall,
                    .pid = core.pid});
    }
  }
  if (epoch.none()) return false;
  note_grant(core);
  tell_watchers(core);
  grant.claim = claim_id(core.nonce, epoch.value());
  grant.epoch = epoch;
  return true;
}

bool LocalEngine::release(ShortGrant& grant) noexcept {
  Core& core = *core_;
  if (!core.mark.same() || core.over.load(std::memory_order_relaxed)) return false;
  const auto index = static_cast<CellIndex>(grant.place);
  Cell& slot = core.table.cell(index);
  const std::uint64_t held = held_word(core);
  const auto ours = [&] {
    return slot.word.load(std::memory_order_acquire) == held &&
           slot.body[slot_field::kEpoch].load(std::memory_order_relaxed) == grant.epoch.value();
  };
  if (!ours()) return false;
  Wakes wakes(core);
  bool ended = false;
  {
    auto section = enter(core, slot.home.load(std::memory_order_relaxed));
    if (!section || !ours()) return false;
    const std::uint64_t text = slot.body[slot_field::kText].load(std::memory_order_relaxed);
    if (low(text) != 0 || (text >> 48) > kInlineKey ||
        slot.body[slot_field::kGuard].load(std::memory_order_relaxed) != 0) {
      return false;
    }
    std::array<char, kInlineKey> key{};
    record(core, {.kind = EventKind::released,
                  .key = copy_bytes(&slot.body[slot_field::kKey], text >> 48, key),
                  .hash = slot.body[slot_field::kHash].load(std::memory_order_relaxed),
                  .epoch = grant.epoch.value(),
                  .wall = core.environment.clock->wall_coarse().since_origin.count(),
                  .pid = core.pid});
    if (first_in_line(slot) == 0) {
      slot.word.store(CommitWord{Kind::cached, 0, core.me}.packed(), std::memory_order_release);
      TENURE_POINT("slot ended");
      unlink_slot(core, section->bucket(), index);
      ended = true;
    } else {
      end_holding(core, slot);
      (void)grant_next(core, slot, wakes, core.monotonic_ns());
    }
  }
  wakes.send();
  // A slot that others wait for is not ours any more; one that ended is a cell for the next claim.
  if (!ended) grant.place = 0;
  tell_watchers(core);
  return true;
}

void LocalEngine::give_back_place(ShortGrant& grant) noexcept {
  const auto cell = static_cast<CellIndex>(std::exchange(grant.place, 0));
  if (cell == 0 || !core_->mark.same()) return;
  // Only what is still nobody's slot: a lease that was lost left its place to others.
  if (core_->table.cell(cell).word.load(std::memory_order_acquire) != CommitWord{Kind::cached, 0, core_->me}.packed())
    return;
  give_cell(*core_, cell);
}

bool LocalEngine::current(const ShortGrant& grant) const noexcept {
  const Core& core = *core_;
  if (core.over.load(std::memory_order_acquire)) return false;
  const std::uint32_t life = core.table.row(core.me.number).life.load(std::memory_order_relaxed);
  if ((life & env::kFlaggedBit) != 0) return false;
  const Cell& slot = core.table.cell(static_cast<CellIndex>(grant.place));
  const std::uint64_t word = slot.word.load(std::memory_order_acquire);
  const bool ours = (word == held_word(core) || word == CommitWord{Kind::holding, 0, core.me}.packed()) &&
                    slot.body[slot_field::kEpoch].load(std::memory_order_relaxed) == grant.epoch.value() &&
                    slot.body[slot_field::kGuard].load(std::memory_order_relaxed) == 0 &&
                    (slot.body[slot_field::kText].load(std::memory_order_relaxed) >> 32 & kOffers) == 0;
  if (!ours) return false;
  const std::uint64_t ttl = slot.body[slot_field::kTtl].load(std::memory_order_relaxed);
  if (ttl == 0) return true;
  // Both stamps are of one extension: a renewal in between only makes it last longer.
  const auto extended = static_cast<std::int64_t>(slot.body[slot_field::kBoot].load(std::memory_order_relaxed));
  return core.boot_ns() - extended <= static_cast<std::int64_t>(ttl);
}

}  // namespace tenure::local
