#include "engine/watchdog.h"

#include "base/quiet_thread.h"

namespace tenure {

Result<void> Watchdog::start(Duration at_most, std::function<void()> when_late) {
  auto thread = base::quiet_thread([this, at_most, act = std::move(when_late)] {
    std::unique_lock lock(mutex_);
    const bool in_time = over_.wait_for(lock, at_most, [this] { return done_; });
    if (!in_time) {
      late_ = true;
      act();
    }
  });
  if (!thread) return fail(thread.error());
  thread_ = std::move(*thread);
  return {};
}

bool Watchdog::stop() {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  over_.notify_one();
  if (thread_.joinable()) thread_.join();
  return late_;
}

}  // namespace tenure
