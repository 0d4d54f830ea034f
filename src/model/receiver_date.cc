#include "model/receiver_date.h"

#include <chrono>
#include <cstdint>

#include "model/lease_record.h"

namespace tenure {
namespace {

constexpr std::size_t kMostFraction = 9;
constexpr std::int64_t kMostDays = 100'000'000;
constexpr std::int64_t kDayMs = 86'400'000;

// Takes the date apart from its front. What does not fit is remembered, and all later parts are then nothing.
class DateText {
 public:
  explicit DateText(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void demand(char wanted) {
    if (!take(wanted)) bad_ = true;
  }
  // So many digits, 0 to `most`.
  int digits(std::size_t count, int most) {
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
        bad_ = true;
        return 0;
      }
      number = 10 * number + (rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    if (number > most) bad_ = true;
    return number;
  }
  // As many digits as there are: a fraction of a second, in milliseconds.
  int fraction_ms() {
    std::size_t count = 0;
    int ms = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
      if (count < 3) ms = 10 * ms + (rest_[count] - '0');
      ++count;
    }
    for (std::size_t i = count; i < 3; ++i) ms *= 10;
    if (count == 0 || count > kMostFraction) bad_ = true;
    rest_.remove_prefix(count);
    return ms;
  }
  bool whole() const { return !bad_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool bad_ = false;
};

// Days since 1970; nullopt where there is no such day.
std::optional<std::int64_t> read_day(DateText& text) {
  using namespace std::chrono;
  int year_number = 0;
  if (text.take('+')) {
    year_number = text.digits(6, 999'999);
  } else if (text.take('-')) {
    year_number = -text.digits(6, 999'999);
    if (year_number == 0) return std::nullopt;
  } else {
    year_number = text.digits(4, 9999);
  }
  int month_number = 1;
  int day_number = 1;
  if (text.take('-')) {
    month_number = text.digits(2, 12);
    if (text.take('-')) day_number = text.digits(2, 31);
  }
  // std::chrono's years are 16 bits. The calendar repeats itself every 400 years, which are 146,097 days.
  const int cycles = (year_number >= 0 ? year_number : year_number - 399) / 400;
  const year_month_day date{year{year_number - 400 * cycles}, month{static_cast<unsigned>(month_number)},
                            day{static_cast<unsigned>(day_number)}};
  if (!date.ok()) return std::nullopt;
  return sys_days{date}.time_since_epoch().count() + std::int64_t{146'097} * cycles;
}

std::int64_t read_zone_ms(DateText& text) {
  const bool east = text.take('+');
  if (!east && !text.take('-')) {
    text.take('Z');
    return 0;
  }
  std::int64_t minutes = 60 * text.digits(2, 23);
  text.demand(':');
  minutes += text.digits(2, 59);
  return (east ? minutes : -minutes) * 60'000;
}

// Milliseconds of the day, in UTC. 24:00:00 is the end of the day.
std::optional<std::int64_t> read_clock(DateText& text) {
  std::int64_t ms = std::int64_t{3'600'000} * text.digits(2, 24);
  text.demand(':');
  ms += std::int64_t{60'000} * text.digits(2, 59);
  if (text.take(':')) {
    ms += std::int64_t{1000} * text.digits(2, 59);
    if (text.take('.')) ms += text.fraction_ms();
  }
  if (ms > kDayMs) return std::nullopt;
  return ms - read_zone_ms(text);
}

}  // namespace

std::string receiver_date(WallTime time) {
  return iso8601(time);
}

std::optional<WallTime> parse_receiver_date(std::string_view text) {
  DateText rest(text);
  const auto day = read_day(rest);
  if (!day) return std::nullopt;
  std::optional<std::int64_t> clock = 0;
  if (rest.take('T')) clock = read_clock(rest);
  if (!clock || !rest.whole()) return std::nullopt;
  const std::int64_t ms = *day * kDayMs + *clock;
  if (ms < -kMostDays * kDayMs || ms > kMostDays * kDayMs) return std::nullopt;
  return wall_time_of(ms);
}

}  // namespace tenure
