// Taking a lease away.
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/memory/memory_client.h"

namespace tenure {

Result<Revoked> MemoryEngine::revoke(const RevokeRequest& request) {
  if (auto own = check_change(request.key); !own) return fail(own.error());
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
    if (viewer_.guarded(holding)) refused = guarding::busy(request.key);
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

}  // namespace tenure
