// Taking a lease away, and keeping it from being taken: revoke and guard.
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/guarding.h"
#include "engine/memory/memory_client.h"
#include "rules/fence.h"

namespace tenure {

Result<Revoked> MemoryEngine::revoke(const RevokeRequest& request) {
  if (auto own = check_process(); !own) return fail(own.error());
  if (auto text = check_text("reason", request.reason, limits::kReasonBytes, true); !text) return fail(text.error());
  std::lock_guard lock(store_->mutex_);
  const auto found = store_->slots_.find(request.key);
  if (found != store_->slots_.end()) end_overdue(request.key, found->second);
  if (found == store_->slots_.end() || found->second.holdings.empty()) {
    return fail(Code::not_held, "nobody holds " + request.key.text());
  }
  memory::Slot& slot = found->second;
  Revoked revoked{.was = viewer_.observe(request.key, slot), .notes = {}};
  // All holders or none; with several, a pinned epoch means the one that has it.
  std::vector<memory::Holding*> ending;
  std::optional<Error> refused;
  for (memory::Holding& holding : slot.holdings) {
    const bool other = request.only_epoch && slot.holdings.size() > 1 && holding.epoch != *request.only_epoch;
    if (other) continue;
    const auto verdict = rules::decide_revoke(viewer_.occupant(holding), rules::Expiry::proof, holding.epoch,
                                              request.force, request.reason, request.only_epoch);
    if (!verdict.allowed) refused = Error{verdict.code, request.key.text() + ": " + verdict.why, "", nullptr};
    if (viewer_.guarded(holding)) {
      refused = Error{Code::section_busy, "an operation runs under the guard of " + request.key.text(),
                      "try again when it has ended", nullptr};
    }
    ending.push_back(&holding);
  }
  if (ending.empty()) refused = Error{Code::epoch_changed, request.key.text() + " has no such epoch", "", nullptr};
  if (refused) {
    refused->holder = std::make_shared<const Observation>(revoked.was);
    return fail(*refused);
  }
  for (const memory::Holding* holding : ending) {
    store_->remember(*holding, EventKind::revoked, request.reason.empty() ? "revoked" : "revoked: " + request.reason);
  }
  std::erase_if(slot.holdings, [&](const memory::Holding& holding) {
    return !request.only_epoch || holding.epoch == *request.only_epoch;
  });
  settle(request.key, slot);
  store_->announce(request.key);
  store_->tidy(request.key);
  return revoked;
}

Result<ClaimRef> MemoryEngine::guarded_claim(const GuardRequest& request) {
  if (request.claim) return ClaimRef{request.key, *request.claim, request.epoch};
  const auto found = store_->slots_.find(request.key);
  if (found != store_->slots_.end()) end_overdue(request.key, found->second);
  static const memory::Slot nobody;
  const memory::Slot& slot = found == store_->slots_.end() ? nobody : found->second;
  const auto vouched = rules::epoch_current(viewer_.observe(request.key, slot), request.epoch);
  if (!vouched) return fail(vouched.error());
  for (const memory::Holding& holding : slot.holdings) {
    if (holding.epoch == request.epoch) return ClaimRef{request.key, holding.claim, request.epoch};
  }
  return fail(Code::lost, "nobody holds " + request.key.text() + " under epoch " + request.epoch.text());
}

Result<void> MemoryEngine::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto own = check_process(); !own) return own;
  std::optional<ClaimRef> claim;
  {
    std::lock_guard lock(store_->mutex_);
    auto meant = guarded_claim(request);
    if (!meant) return fail(meant.error());
    claim = std::move(*meant);
    auto mine = current(*claim);
    if (!mine) return fail(mine.error());
    if (mine->late_by) {
      return fail(Code::expired, request.key.text() + " is past its TTL by " + words(*mine->late_by), "renew it");
    }
    if (mine->holding.guarded_until) {
      return fail(Code::section_busy, "another operation runs under the guard of " + request.key.text());
    }
    mine->holding.guarded_until = environment_.clock->monotonic() + guarding::bound_of(request);
  }
  auto own = operation();
  std::lock_guard lock(store_->mutex_);
  auto still = current(*claim);  // ends the lease if the bound has passed
  store_->changed_.notify_all();
  if (still) {
    still->holding.guarded_until.reset();
    return own;
  }
  store_->tidy(request.key);
  return fail(guarding::past_bound(request, own));
}

}  // namespace tenure
