// Operations under guard.
#include "base/limits.h"
#include "engine/memory/memory_client.h"
#include "rules/fence.h"

namespace tenure {

namespace {

constexpr std::chrono::milliseconds kGuardLook{5};  // of who waits for another operation to end

}  // namespace

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

bool MemoryEngine::wait_for_guard(std::unique_lock<std::mutex>& lock, MonotonicTime begun) {
  if (environment_.clock->monotonic() - begun >= limits::kSectionWait) return false;
  store_->changed_.wait_for(lock, kGuardLook);
  return true;
}

Result<MemoryEngine::Guarding> MemoryEngine::begin_guard(std::unique_lock<std::mutex>& lock,
                                                         const GuardRequest& request) {
  const MonotonicTime begun = environment_.clock->monotonic();
  while (true) {
    const auto claim = guarded_claim(request);
    if (!claim) return fail(claim.error());
    auto mine = current(*claim);
    if (!mine) return fail(mine.error());
    if (mine->late_by) {
      return fail(Code::expired, request.key.text() + " is past its TTL by " + words(*mine->late_by), "renew it");
    }
    if (!viewer_.guarded(mine->holding)) {
      mine->holding.guard = memory::Guard{environment_.clock->monotonic() + request.at_most, viewer_.self()};
      return Guarding{*claim, *mine->holding.guard};
    }
    if (!wait_for_guard(lock, begun)) return fail(guarding::busy(request.key));
  }
}

Result<void> MemoryEngine::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto checked = guarding::check(request, operation); !checked) return checked;
  if (auto own = check_change(request.key); !own) return own;
  std::unique_lock lock(store_->mutex_);
  const auto begun = begin_guard(lock, request);
  if (!begun) return fail(begun.error());
  lock.unlock();
  const auto own = [&] {
    const guarding::Inside inside(place(), request.key);
    return operation();
  }();
  lock.lock();
  auto still = current(begun->claim);  // ends the lease if the bound has passed
  store_->changed_.notify_all();
  if (still && still->holding.guard == begun->guard) {
    still->holding.guard.reset();
    return own;
  }
  store_->tidy(request.key);
  const bool late = environment_.clock->monotonic() > begun->guard.until;
  if (late || still) return fail(guarding::past_bound(request, own));
  return fail(guarding::lost_meanwhile(request, still.error(), own));
}

}  // namespace tenure
