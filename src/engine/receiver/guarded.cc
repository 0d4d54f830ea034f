// Guarded work: while the operation runs, the guard is ours, so nobody can take the lease, pi-amq's processes included.
#include "engine/guarding.h"
#include "engine/receiver/store.h"
#include "engine/watchdog.h"

namespace tenure::receiver {

Result<void> Store::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto checked = guarding::check(request, operation); !checked) return checked;
  if (auto own = check_change(request.key); !own) return own;
  std::optional<ClaimRef> mine;
  {
    // Whoever knows the epoch alone, and is the holder all the same, has a pass ready.
    const std::lock_guard lock(mutex_);
    const bool ours = held_ && held_->epoch == request.epoch && (!request.claim || *request.claim == held_->claim);
    if (ours) mine = ClaimRef{request.key, held_->claim, held_->epoch};
  }
  auto entered = enter(mine, Bound::of(core_, kGuardWait));
  if (!entered) return fail(entered.error());
  auto now = current(request.key, request.claim, request.epoch);
  if (!now) return fail(now.error());
  // At the bound the lease itself is given up, still inside the guard: whoever comes next is fenced off from nothing.
  Watchdog watchdog;
  auto watched = watchdog.start(request.at_most, [&] {
    give_up_guarded(*now);
    (void)(*entered)->guard->leave();
  });
  if (!watched) return watched;
  const auto own = [&] {
    const guarding::Inside inside(place(), request.key);
    return operation();
  }();
  if (watchdog.stop()) return fail(guarding::past_bound(request, own));
  auto left = (*entered)->guard->leave();
  if (!left) return fail(guarding::not_dropped(request, left.error(), own));
  if (*left) return own;
  const Error moved{Code::lost, "somebody took this process for dead, and moved its guard", "", nullptr};
  return fail(guarding::lost_meanwhile(request, moved, own));
}

// The operation runs on while its bound has passed.
void Store::give_up_guarded(const Look& now) {
  auto seen = look(core_);
  if (!seen || !seen->sidecar || seen->sidecar->claim != now.sidecar->claim) return;
  (void)write_revocation("an operation ran past the bound of its guard", true, observe(core_, *seen));
  (void)discard(*seen, now.sidecar->claim);
  drop_held(now.sidecar->claim);
}

}  // namespace tenure::receiver
