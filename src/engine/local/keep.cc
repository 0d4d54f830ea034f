// Keeping a lease: is it still ours, and its TTL.
#include "engine/local/events.h"
#include "engine/local/guards.h"
#include "engine/local/local_engine.h"
#include "engine/local/together.h"
#include "engine/local/yielding.h"
#include "rules/ownership.h"

namespace tenure::local {
namespace {

std::optional<BootTime> valid_until(const HoldingView& slot) {
  if (!slot.terms.ttl) return std::nullopt;
  return BootTime{Duration{slot.boot}} + *slot.terms.ttl;
}

// How late it is, if it is.
std::optional<Duration> late_by(const Core& core, const HoldingView& slot) {
  const auto until = valid_until(slot);
  if (!until) return std::nullopt;
  const Duration late = core.environment.clock->boottime() - *until;
  return late > Duration{0} ? std::optional(late) : std::nullopt;
}

Error past_ttl(const ClaimRef& claim, Duration late) {
  return Error{Code::expired, claim.key.text() + " is past its TTL by " + words(late), "renew it", nullptr};
}

bool may_end(EventKind kind) {
  switch (kind) {
    case EventKind::claimed:
    case EventKind::handed_over:
    case EventKind::asked:
    case EventKind::answered:
    case EventKind::offered:
    case EventKind::withdrawn:
      return false;
    default:
      return true;
  }
}

}  // namespace

Error LocalEngine::lost(const ClaimRef& claim, const std::optional<SlotView>& now) const {
  std::string why;
  const auto seen = read_events(*core_, 0);
  for (const Event& event : seen.events) {
    if (event.epoch != claim.epoch || !may_end(event.kind)) continue;
    why = std::string(word_of(event.kind)) + (event.why.empty() ? "" : ": " + event.why);
  }
  Error error{Code::lost, claim.key.text() + " is no longer this claim's", "claim it again", nullptr};
  if (!why.empty()) error.message += " (" + why + ")";
  if (now && (now->held() || !now->together.empty())) {
    error.message += now->held() ? ": it is held by another claim under epoch " + now->epoch.text()
                                 : std::string(": others hold it together");
    error.holder = std::make_shared<const Observation>(observe(*core_, claim.key, now, Care::quick));
  } else {
    error.message += ": it was given back or taken away";
  }
  return error;
}

Result<HoldingView> LocalEngine::current(const ClaimRef& claim) const {
  auto lease = read_lease(*core_, claim.key.text(), claim.claim, claim.epoch);
  if (!lease) return fail(lease.error());
  if (!*lease) {
    auto now = read_key(*core_, claim.key.text());
    if (!now) return fail(now.error());
    return fail(lost(claim, *now));
  }
  if (past_guard(*core_, **lease)) return fail(Code::lost, claim.key.text() + " is lost: " + kPastGuard);
  if (((*lease)->flags & kOffers) != 0) {
    if (back_to_line(*core_, **lease)) {
      return fail(Code::lost, claim.key.text() + " is lost: " + not_adopted(**lease), "claim it again");
    }
    look_again_at_its_end(**lease);
  }
  return std::move(**lease);
}

Result<Renewal> LocalEngine::beat(const ClaimRef& claim) {
  if (auto member = check_member(); !member) return fail(member.error());
  auto slot = current(claim);
  if (!slot) return fail(slot.error());
  return Renewal{slot->epoch, late_by(*core_, *slot), valid_until(*slot)};
}

Result<Renewal> LocalEngine::renew(const ClaimRef& claim) {
  if (auto member = check_change(claim.key); !member) return fail(member.error());
  auto seen = current(claim);
  if (!seen) return fail(seen.error());
  const auto late = late_by(*core_, *seen);
  if (!seen->terms.ttl) return Renewal{seen->epoch, late, std::nullopt};
  seen->monotonic = core_->monotonic_ns();
  seen->boot = core_->boot_ns();
  Cell& slot = core_->table.cell(seen->index);
  {
    auto section = Section::enter(*core_, slot.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) return fail(section.error());
    if (!is_same(slot, *seen)) return fail(lost(claim, std::nullopt));
    slot.body[slot_field::kMonotonic].store(static_cast<std::uint64_t>(seen->monotonic), std::memory_order_relaxed);
    slot.body[slot_field::kBoot].store(static_cast<std::uint64_t>(seen->boot), std::memory_order_relaxed);
    record(*core_, {.kind = EventKind::renewed,
                    .key = claim.key.text(),
                    .hash = slot.body[slot_field::kHash].load(std::memory_order_relaxed),
                    .epoch = claim.epoch.value(),
                    .wall = core_->wall_ns(),
                    .pid = static_cast<std::uint64_t>(core_->self().pid),
                    .owner = core_->owner_label});
  }
  tell_watchers(*core_);
  return Renewal{seen->epoch, late, valid_until(*seen)};
}

Result<Standing> LocalEngine::verify(const ClaimRef& claim) {
  if (auto member = check_member(); !member) return fail(member.error());
  auto slot = current(claim);
  if (!slot) return fail(slot.error());
  if (const auto late = late_by(*core_, *slot)) return fail(past_ttl(claim, *late));
  Standing standing{slot->epoch, std::nullopt};
  if (const auto until = valid_until(*slot)) standing.remaining = *until - core_->environment.clock->boottime();
  return standing;
}

}  // namespace tenure::local
