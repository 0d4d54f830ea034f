#include "os/linux/real_clock.h"

#include <time.h>

namespace tenure::os {
namespace {

// clock_gettime fails only for a clock that the kernel does not have; these three are older than any kernel that can
// run the rest of this program.
Duration now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

}  // namespace

MonotonicTime RealClock::monotonic() const {
  return {now(CLOCK_MONOTONIC)};
}
BootTime RealClock::boottime() const {
  return {now(CLOCK_BOOTTIME)};
}
WallTime RealClock::wall() const {
  return {now(CLOCK_REALTIME)};
}
WallTime RealClock::wall_coarse() const {
  return {now(CLOCK_REALTIME_COARSE)};
}

}  // namespace tenure::os
