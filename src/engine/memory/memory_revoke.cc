// Taking a lease away, and keeping it from being taken: revoke and guard.
#include <algorithm>

#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/memory/memory_client.h"

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

Result<void> MemoryEngine::guard(const ClaimRef& claim, Duration at_most, const std::function<void()>& operation) {
  if (auto own = check_process(); !own) return own;
  const Duration bound = std::clamp(at_most, Duration{0}, Duration{limits::kLongestDuration});
  {
    std::lock_guard lock(store_->mutex_);
    auto mine = current(claim);
    if (!mine) return fail(mine.error());
    if (mine->late_by) {
      return fail(Code::expired, claim.key.text() + " is past its TTL by " + words(*mine->late_by), "renew it");
    }
    if (mine->holding.guarded_until) {
      return fail(Code::section_busy, "another operation runs under the guard of " + claim.key.text());
    }
    mine->holding.guarded_until = environment_.clock->monotonic() + bound;
  }
  operation();
  std::lock_guard lock(store_->mutex_);
  auto still = current(claim);  // ends the lease if the bound has passed
  store_->changed_.notify_all();
  if (still) {
    still->holding.guarded_until.reset();
    return {};
  }
  store_->tidy(claim.key);
  return fail(Code::unknown_outcome, "the operation under the guard of " + claim.key.text() +
                                         " ran past its bound of " + words(bound) +
                                         ": others may have acted meanwhile");
}

}  // namespace tenure
