// Watchdog: the bound of work under guard, kept by a thread of its own, since the work has the caller's. By real time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tenure/error.h"
#include "tenure/time.h"

namespace tenure {

// Calls `when_late` once, on its thread, if it is not told in time that the work is over.
class Watchdog {
 public:
  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() { stop(); }

  // What else is done meanwhile, every `interval`; returns how long it took.
  struct Chore {
    Duration interval;
    std::function<Duration()> run;
  };
  // Code::limit_reached: no further thread can be had.
  Result<void> start(Duration at_most, std::function<void()> when_late);
  Result<void> start(Duration at_most, std::function<void()> when_late, Chore chore);
  // True when the bound was passed. On return nothing is called any more.
  bool stop();

 private:
  void watch(Duration left, const std::function<void()>& when_late, const Chore& chore);

  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  bool late_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace tenure
