// FakeClock: three clocks that only the test moves.
#pragma once

#include <mutex>

#include "env/clock.h"

namespace tenure::fakes {

// Thread-safe. Starts well away from zero, so that a stamp which was forgotten shows.
class FakeClock final : public env::Clock {
 public:
  MonotonicTime monotonic() const override { return read().monotonic; }
  BootTime boottime() const override { return read().boot; }
  WallTime wall() const override { return read().wall; }

  // Time passes: all three go on.
  void advance(Duration by) { move(by, by, by); }
  // The machine is suspended: CLOCK_MONOTONIC stands still, the others go on.
  void sleep(Duration by) { move(Duration{0}, by, by); }
  // Somebody sets the clock on the wall, either way.
  void step_wall(Duration by) { move(Duration{0}, Duration{0}, by); }
  void advance_monotonic(Duration by) { move(by, Duration{0}, Duration{0}); }
  void advance_boottime(Duration by) { move(Duration{0}, by, Duration{0}); }

 private:
  struct Hands {
    MonotonicTime monotonic{std::chrono::seconds{5'000}};
    BootTime boot{std::chrono::seconds{6'000}};
    WallTime wall{std::chrono::seconds{1'750'000'000}};
  };

  Hands read() const {
    std::lock_guard lock(mutex_);
    return hands_;
  }
  void move(Duration monotonic, Duration boot, Duration wall) {
    std::lock_guard lock(mutex_);
    hands_.monotonic = hands_.monotonic + monotonic;
    hands_.boot = hands_.boot + boot;
    hands_.wall = hands_.wall + wall;
  }

  mutable std::mutex mutex_;
  Hands hands_;
};

}  // namespace tenure::fakes
