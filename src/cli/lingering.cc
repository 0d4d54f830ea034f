#include "cli/lingering.h"

#include <algorithm>

namespace tenure::cli {
namespace {

constexpr Duration kShortest = std::chrono::seconds(30);
// After an answer that was "cannot say".
constexpr Duration kAskAgain = std::chrono::seconds(1);
// A look at the very end may come a moment before it.
constexpr Duration kMargin = std::chrono::milliseconds(2);

}  // namespace

Lingering::Lingering(const Lease& lease, const Space& space, std::optional<Duration> ttl)
    : lease_(lease),
      space_(space),
      ttl_(ttl),
      clock_(compose::real_clock()),
      next_look_(now() + lease.remaining().value_or(Duration{0}) + kMargin) {}

std::optional<Duration> Lingering::until_next_look() const {
  if (!ttl_) return std::nullopt;
  return std::max(next_look_ - now(), Duration{0});
}

bool Lingering::over() {
  return ttl_ && now() >= next_look_ && look();
}

// The store is asked, not our own clock: another process may have renewed with the handle.
bool Lingering::look() {
  const auto left = space_.verify(lease_.handle());
  if (left) {
    end_.reset();
    next_look_ = now() + left->value_or(kAskAgain) + kMargin;
    return false;
  }
  if (left.error().code == Code::lost) return true;
  if (left.error().code != Code::expired) {
    next_look_ = now() + kAskAgain;
    return false;
  }
  if (!end_) end_ = now() + std::max(*ttl_, kShortest);
  if (now() >= *end_) return give_up();
  // Often enough that no renewal comes and runs out unseen.
  next_look_ = std::min(now() + std::max(*ttl_ / 2, kMargin), *end_);
  return false;
}

// One step with the question whether it is still expired, so that a renewal of this very moment is not undone.
bool Lingering::give_up() {
  const std::string reason = "its TTL of " + words(*ttl_) + " ran out and nobody renewed it";
  const auto cleared = space_.revoke(lease_.key(), {.reason = reason, .force = false, .only_epoch = lease_.epoch()});
  if (cleared) return true;
  const Code code = cleared.error().code;
  if (code == Code::not_held || code == Code::epoch_changed || code == Code::lost) return true;
  next_look_ = now() + kAskAgain;
  return false;
}

}  // namespace tenure::cli
