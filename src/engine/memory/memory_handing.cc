// Handing a lease to a successor: the offer, and its adoption.
#include <algorithm>

#include "engine/check_request.h"
#include "engine/memory/memory_client.h"

namespace tenure {

Result<void> MemoryEngine::hand_off(const ClaimRef& claim, const HandOff& offer) {
  if (auto own = check_process(); !own) return own;
  if (auto checked = check_hand_off(offer); !checked) return checked;
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  if (mine->late_by) {
    return fail(Code::expired, claim.key.text() + " is past its TTL by " + words(*mine->late_by), "renew it");
  }
  const WallTime now = environment_.clock->wall();
  mine->holding.offer = memory::OpenOffer{{offer.to, offer.back, now, now + offer.within},
                                          environment_.clock->monotonic() + offer.within,
                                          environment_.processes->self().identity.time_namespace};
  if (offer.back == Back::line) store_->ending_.insert_or_assign(claim.key, mine->holding.offer->until);
  store_->announce(claim.key);
  return {};
}

Result<bool> MemoryEngine::withdraw_hand_off(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  const bool stood = viewer_.offered(mine->holding);
  mine->holding.offer.reset();
  store_->ending_.erase(claim.key);
  store_->announce(claim.key);
  return stood;
}

Error MemoryEngine::not_offered(const ClaimRequest& request, const memory::Slot& slot) const {
  Error error{Code::not_offered, request.key.text() + " is not offered to " + request.owner, "", nullptr};
  Observation seen = viewer_.observe(request.key, slot);
  for (const memory::Holding& holding : slot.holdings) {
    if (!viewer_.offered(holding)) continue;
    seen = viewer_.observe(request.key, holding);
    error.message += ", but to " + holding.offer->offer.to;
    break;
  }
  error.remedy = "ask its holder to hand it over";
  error.holder = std::make_shared<const Observation>(std::move(seen));
  return error;
}

Result<Grant> MemoryEngine::adopt(const ClaimRequest& request) {
  if (auto own = check_change(request.key); !own) return fail(own.error());
  if (auto checked = check_adoption(request, traits_); !checked) return fail(checked.error());
  auto claim = fresh_claim();
  if (!claim) return fail(claim.error());
  std::lock_guard lock(store_->mutex_);
  const auto found = store_->slots_.find(request.key);
  if (found != store_->slots_.end()) end_overdue(request.key, found->second);
  if (found == store_->slots_.end() || found->second.holdings.empty()) {
    return fail(Code::not_held, "nobody holds " + request.key.text() + ", so there is nothing to adopt", "claim it");
  }
  memory::Slot& slot = found->second;
  const auto offered = std::ranges::find_if(slot.holdings, [&](const memory::Holding& holding) {
    return viewer_.offered(holding) && holding.offer->offer.to == request.owner;
  });
  if (offered == slot.holdings.end()) return fail(not_offered(request, slot));
  if (viewer_.guarded(*offered)) return fail(guarding::busy(request.key));
  const auto epoch = next_epoch();
  if (!epoch) return fail(epoch.error());
  Grant grant{.key = request.key, .claim = *claim, .epoch = *epoch};
  ClaimRequest taken = request;
  taken.terms.mode = offered->terms.mode;
  taken.terms.slots = offered->terms.slots;
  store_->remember(*offered, EventKind::handed_off, "handed off: to " + request.owner);
  store_->ending_.erase(request.key);
  *offered = holding_of(taken, environment_, offered->holder.slot, grant);
  store_->announce(request.key);
  return grant;
}

}  // namespace tenure
