// Waits whose deadline lies on a fake clock: the thread sleeps in short real slices and looks at the fake hands.
#pragma once

#include <condition_variable>
#include <mutex>

#include "env/clock.h"
#include "tenure/stop.h"

namespace tenure::fakes {

inline constexpr std::chrono::milliseconds kSlice{1};

enum class Ended : std::uint8_t { ready, late, stopped };

// A deadline that does not wrap for "for ever".
inline MonotonicTime deadline_after(MonotonicTime now, Duration at_most) {
  const Duration room = Duration::max() - now.since_origin;
  return at_most > room ? MonotonicTime{Duration::max()} : now + at_most;
}

// Waits for `ready` (called with the lock held), for `stop`, or until the clock has moved by `at_most`.
template <class Ready>
Ended wait_on(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const env::Clock& clock,
              Duration at_most, const Stop* stop, Ready ready) {
  const MonotonicTime deadline = deadline_after(clock.monotonic(), at_most);
  while (true) {
    if (ready()) return Ended::ready;
    if (stop != nullptr && stop->requested()) return Ended::stopped;
    if (clock.monotonic() >= deadline) return Ended::late;
    changed.wait_for(lock, kSlice);
  }
}

}  // namespace tenure::fakes
