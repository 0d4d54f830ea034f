#include "tenure/time.h"

#include <array>
#include <cstdio>
#include <optional>

#include "base/limits.h"
#include "base/text.h"

namespace tenure {
namespace {

struct Unit {
  std::string_view suffix;
  std::string_view word;
  std::int64_t milliseconds;
};

// From the longest to the shortest: the order in which a sum of units is written.
constexpr std::array<Unit, 5> kUnits{
    {{"d", "d", 86'400'000}, {"h", "h", 3'600'000}, {"m", "min", 60'000}, {"s", "s", 1000}, {"ms", "ms", 1}}};

constexpr std::int64_t kMostMilliseconds =
    std::chrono::duration_cast<std::chrono::milliseconds>(limits::kLongestDuration).count();

std::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(Code::bad_duration,
              "not a duration: \"" + escape_controls(cut_text(text, 64)) + "\": " + std::string(why),
              "write a number and a unit (ms, s, m, h, d), such as 90s, 5m or 1h30m");
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads digits off the front. Stops counting once beyond the limit, so that no number can overflow.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  if (rest.empty() || !is_digit(rest.front())) return std::nullopt;
  std::int64_t value = 0;
  while (!rest.empty() && is_digit(rest.front())) {
    if (value <= kMostMilliseconds) value = value * 10 + (rest.front() - '0');
    rest.remove_prefix(1);
  }
  return value;
}

// The index of the unit at the front, which is taken off.
std::optional<std::size_t> take_unit(std::string_view& rest) {
  std::size_t letters = 0;
  while (letters < rest.size() && !is_digit(rest[letters])) ++letters;
  const std::string_view suffix = rest.substr(0, letters);
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (kUnits[i].suffix != suffix) continue;
    rest.remove_prefix(letters);
    return i;
  }
  return std::nullopt;
}

std::string with_unit(std::int64_t count, const Unit& unit) {
  return std::to_string(count) + " " + std::string(unit.word);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration{0};
  if (text.empty()) return refuse(text, "it is empty");
  std::string_view rest = text;
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!rest.empty()) {
    const auto number = take_number(rest);
    if (!number) return refuse(text, "a number is missing");
    if (rest.empty()) return refuse(text, "a unit is missing");
    const auto unit = take_unit(rest);
    if (!unit) return refuse(text, "no such unit");
    if (*unit < next_unit) return refuse(text, "units must be named once, the longest first");
    next_unit = *unit + 1;
    if (*number > (kMostMilliseconds - total) / kUnits[*unit].milliseconds) {
      return refuse(text, "the limit is ten years (3650d)");
    }
    total += *number * kUnits[*unit].milliseconds;
  }
  return std::chrono::milliseconds{total};
}

std::string words(Duration duration) {
  if (duration < Duration::zero()) {
    return "-" + words(duration == Duration::min() ? Duration::max() : -duration);
  }
  if (duration == Duration::zero()) return "0 s";
  const std::int64_t total = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  if (total == 0) return "less than 1 ms";
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const std::int64_t count = total / kUnits[i].milliseconds;
    if (count == 0) continue;
    std::string out = with_unit(count, kUnits[i]);
    // Milliseconds beside ten seconds and more are noise to a reader.
    const bool noise = kUnits[i].suffix == "s" && count >= 10;
    if (i + 1 == kUnits.size() || noise) return out;
    const std::int64_t rest = (total % kUnits[i].milliseconds) / kUnits[i + 1].milliseconds;
    return rest == 0 ? out : out + " " + with_unit(rest, kUnits[i + 1]);
  }
  return "0 s";
}

std::string iso8601(WallTime time) {
  using namespace std::chrono;
  // floor, not a cast: a moment before 1970 must not be rounded into the next millisecond.
  const sys_time<milliseconds> moment{floor<milliseconds>(time.since_origin)};
  const auto day = floor<days>(moment);
  const year_month_day date{day};
  const hh_mm_ss clock{moment - day};
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return buffer;
}

}  // namespace tenure
