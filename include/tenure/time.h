// Three kinds of time, three types that do not convert into one another.
//
// MonotonicTime  CLOCK_MONOTONIC: by it contenders judge a holder's age and waits are measured. The machine's sleep
//                does not count.
// BootTime       CLOCK_BOOTTIME: by it a holder judges its own remaining validity. Sleep counts.
// WallTime       CLOCK_REALTIME: for people and for foreign formats only.
//
// Monotonic and boot time mean something only within one kernel boot and one time namespace.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenure/error.h"

namespace tenure {

using Duration = std::chrono::nanoseconds;

namespace detail {
template <class Tag>
struct Instant {
  Duration since_origin{0};

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Duration operator-(Instant a, Instant b) { return a.since_origin - b.since_origin; }
  friend constexpr Instant operator+(Instant a, Duration d) { return Instant{a.since_origin + d}; }
  friend constexpr Instant operator-(Instant a, Duration d) { return Instant{a.since_origin - d}; }
  constexpr std::int64_t milliseconds() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_origin).count();
  }
  static constexpr Instant from_milliseconds(std::int64_t ms) { return Instant{std::chrono::milliseconds{ms}}; }
};
}  // namespace detail

using MonotonicTime = detail::Instant<struct MonotonicTag>;
using BootTime = detail::Instant<struct BootTag>;
using WallTime = detail::Instant<struct WallTag>;  // origin: 1970-01-01T00:00:00Z

// "90s", "5m", "1h30m", "250ms", "2d", "0". A bare number other than 0 is refused: the unit is never guessed. At most
// 10 years. Code::bad_duration otherwise.
Result<Duration> parse_duration(std::string_view text);

// "3 s", "4 min 10 s", "2 h 5 min", "12 ms": for people, two units at most.
std::string words(Duration duration);

// "2026-03-01T12:34:56.789Z".
std::string iso8601(WallTime time);

}  // namespace tenure
