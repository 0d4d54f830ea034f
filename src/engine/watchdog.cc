#include "engine/watchdog.h"

#include "base/quiet_thread.h"

namespace tenure {

Result<void> Watchdog::start(Duration at_most, std::function<void()> when_late) {
  return start(at_most, std::move(when_late), Chore{at_most, nullptr});
}

Result<void> Watchdog::start(Duration at_most, std::function<void()> when_late, Chore chore) {
  auto thread = base::quiet_thread(
      [this, at_most, late = std::move(when_late), chore = std::move(chore)] { watch(at_most, late, chore); });
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

void Watchdog::watch(Duration left, const std::function<void()>& when_late, const Chore& chore) {
  const auto is_over = [this] { return done_; };
  std::unique_lock lock(mutex_);
  for (; left > chore.interval; left -= chore.interval) {
    if (over_.wait_for(lock, chore.interval, is_over)) return;
    left -= chore.run();
  }
  if (over_.wait_for(lock, left, is_over)) return;
  late_ = true;
  when_late();
}

}  // namespace tenure
