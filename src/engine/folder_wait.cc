#include "engine/folder_wait.h"

#include <algorithm>
#include <optional>

#include "base/descriptor.h"
#include "base/limits.h"

namespace tenure {
namespace {

// A look at least this often, for what no watch reports: another host's changes on a network file system.
constexpr Duration kLookAnyway = std::chrono::seconds(2);
// The same where the holder's death can be found by looking alone.
constexpr Duration kLookForDeath = std::chrono::milliseconds(250);
// After a sign of the holder's death, until the kernel has let go of its lock.
constexpr Duration kDeathPollFirst = std::chrono::microseconds(200);
constexpr Duration kDeathPollMost = std::chrono::milliseconds(10);
constexpr int kDeathPolls = 12;
// Past a TTL by this much before the next try, so that it has passed on every clock.
constexpr Duration kPastTheTtl = std::chrono::milliseconds(1);

bool means_held(Code code) {
  return code == Code::held || code == Code::held_by_part || code == Code::section_busy;
}

using Sign = FolderWait::Sign;

class FolderWaiter {
 public:
  FolderWaiter(const FolderWait& store, const ClaimRequest& request, const Wait& wait)
      : store_(store), request_(request), wait_(wait), clock_(*store.environment->clock), begun_(clock_.monotonic()) {}

  Result<Grant> run() {
    for (;;) {
      if (stopped()) return fail(given_up());
      auto grant = store_.claim(request_, wait_.stop, std::clamp(left(), Duration{0}, limits::kSectionWait));
      if (grant || !means_held(grant.error().code)) return grant;
      if (stopped()) return fail(given_up());
      if (left() <= Duration{0}) return fail(waited_out(std::move(grant.error())));
      tell(grant.error());
      // The watch begins before the look that decides to sleep, so that no change falls between them.
      if (watch_ == nullptr) {
        auto watch = store_.watch();
        if (!watch) return fail(watch.error());
        watch_ = std::move(*watch);
        continue;
      }
      if (auto slept = sleep(grant.error()); !slept) return fail(slept.error());
    }
  }

 private:
  bool stopped() const { return wait_.stop != nullptr && wait_.stop->requested(); }
  Duration left() const {
    if (!wait_.at_most) return limits::kLongestDuration;
    return *wait_.at_most - (clock_.monotonic() - begun_);
  }

  Error given_up() const {
    return Error{Code::cancelled, "the wait for " + request_.key.text() + " was given up", "", last_};
  }
  Error waited_out(Error error) const {
    error.code = Code::timed_out;
    error.message = "waited " + words(*wait_.at_most) + "; " + error.message;
    if (error.holder == nullptr) error.holder = last_;
    return error;
  }

  void tell(const Error& error) {
    if (error.holder == nullptr) return;
    const bool same =
        last_ != nullptr && last_->state == error.holder->state && last_->epoch == error.holder->epoch &&
        last_->verdict.liveness == error.holder->verdict.liveness &&
        (last_->holder ? last_->holder->owner : "") == (error.holder->holder ? error.holder->holder->owner : "");
    last_ = error.holder;
    if (!same && wait_.on_wait) wait_.on_wait(*last_);
    if (!same) watch_death();
  }

  // The owner where the lease is kept for one: the keeper's end is seen by its life file.
  void watch_death() {
    death_.reset();
    if (!last_->holder || last_->verdict.liveness != Liveness::live) return;
    const Holder& holder = *last_->holder;
    const ProcessIdentity& process = holder.owner_process ? *holder.owner_process : holder.process;
    const ProcessIdentity& self = store_.environment->processes->self().identity;
    if (process.boot_id != self.boot_id || process.pid_namespace != self.pid_namespace) return;
    death_.reset(store_.environment->processes->death_descriptor(process.pid));
  }

  Duration nap(const Error& error) const {
    const bool blind = !store_.watches_life && !death_;
    Duration most = std::min(left(), blind ? kLookForDeath : kLookAnyway);
    if (error.holder != nullptr && error.holder->frees_in) {
      most = std::min(most, *error.holder->frees_in + kPastTheTtl);
    }
    return std::max(most, Duration{0});
  }

  Result<void> sleep(const Error& error) {
    const MonotonicTime until = clock_.monotonic() + nap(error);
    const bool somebody_inside = error.code == Code::section_busy;
    for (;;) {
      const Duration most = until - clock_.monotonic();
      if (most <= Duration{0} || stopped()) return {};
      auto seen = watch_->wait(most, wait_.stop, death_.get());
      if (!seen) return fail(seen.error());
      if (seen->everything) return {};
      const auto has = [&](Sign sign) {
        return std::ranges::any_of(seen->names, [&](const std::string& name) { return store_.sign_of(name) == sign; });
      };
      if (has(Sign::changed) || (somebody_inside && has(Sign::section_free))) return {};
      if (has(Sign::let_go)) return let_go();
      // Nothing reported, and neither the time nor a stop: so it was the holder's death.
      if (seen->names.empty() && death_ && clock_.monotonic() < until && !stopped()) {
        death_.reset();
        return let_go();
      }
    }
  }

  // The watch speaks a moment before the lock is free.
  Result<void> let_go() {
    Duration pause = kDeathPollFirst;
    for (int poll = 0; poll < kDeathPolls && !stopped(); ++poll) {
      auto seen = store_.holder(request_.key);
      if (!seen || seen->claimable || seen->state == State::free) break;
      auto slept = watch_->wait(std::min(pause, std::max(left(), Duration{0})), wait_.stop, -1);
      if (!slept) return fail(slept.error());
      pause = std::min(pause * 2, kDeathPollMost);
    }
    return {};
  }

  const FolderWait& store_;
  const ClaimRequest& request_;
  const Wait& wait_;
  const env::Clock& clock_;
  const MonotonicTime begun_;
  std::unique_ptr<env::Watch> watch_;
  std::shared_ptr<const Observation> last_;
  base::Descriptor death_;
};

}  // namespace

Result<Grant> await_in_folder(const FolderWait& store, const ClaimRequest& request, const Wait& wait) {
  return FolderWaiter(store, request, wait).run();
}

}  // namespace tenure
