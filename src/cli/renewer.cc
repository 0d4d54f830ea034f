#include "cli/renewer.h"

#include <algorithm>
#include <condition_variable>

#include "base/quiet_thread.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

constexpr Duration kShortest = std::chrono::milliseconds{10};

}  // namespace

struct Renewer::Shared {
  Shared(Lease& a_lease, Duration a_ttl, std::function<void()> a_renewed, Stop a_signal)
      : lease(a_lease), ttl(a_ttl), renewed(std::move(a_renewed)), given_up(std::move(a_signal)) {}

  Lease& lease;
  const Duration ttl;
  const std::function<void()> renewed;
  const Stop given_up;
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::string why;

  // True when the work is over.
  bool pause(Duration span) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, span, [this] { return ended; });
  }

  void give_up(const std::string& reason) {
    {
      std::lock_guard lock(mutex);
      why = reason;
    }
    given_up.request();
  }

  void run() {
    const Duration regular = std::max(ttl / 3, kShortest);
    Duration next = regular;
    while (!pause(next)) {
      auto late = lease.renew();
      if (late) {
        renewed();
        if (*late) complain("tenure: renewed late, by " + words(**late) + ", with nobody in between\n");
        next = regular;
        continue;
      }
      // A loss is told by the lease itself.
      if (lease.lost() || facts(late.error().code).outcome == Outcome::lost) return give_up(late.error().message);
      const Duration left = lease.remaining().value_or(Duration{0});
      if (left <= Duration{0}) return give_up("it could not be renewed in time: " + late.error().message);
      next = std::clamp(left / 4, kShortest, regular);
    }
  }
};

Renewer::Renewer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
Renewer::Renewer(Renewer&&) noexcept = default;

Result<Renewer> Renewer::start(Lease& lease, std::optional<Duration> ttl, std::function<void()> renewed) {
  auto signal = Stop::create();
  if (!signal) return fail(signal.error());
  Renewer renewer(std::make_shared<Shared>(lease, ttl.value_or(Duration{0}), std::move(renewed), std::move(*signal)));
  if (!ttl) return renewer;
  auto thread = base::quiet_thread([shared = renewer.shared_] { shared->run(); });
  if (!thread) return fail(thread.error());
  renewer.thread_ = std::move(*thread);
  return renewer;
}

Renewer::~Renewer() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->ended = true;
  }
  shared_->changed.notify_all();
  thread_.join();
}

int Renewer::descriptor() const {
  return shared_->given_up.descriptor();
}

std::string Renewer::why() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->why;
}

}  // namespace tenure::cli
