#include "os/linux/local_time.h"

#include <array>
#include <ctime>

namespace tenure::os {

std::string local_time(WallTime at) {
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = static_cast<std::time_t>(std::chrono::floor<std::chrono::seconds>(at.since_origin).count());
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr || parts.tm_mon < 0 || parts.tm_mon > 11) return "at no known time";
  // Not by strftime: it follows the locale of the host.
  const std::string month = kMonths[static_cast<std::size_t>(parts.tm_mon)];
  const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return month + (parts.tm_mday < 10 ? "  " : " ") + std::to_string(parts.tm_mday) + " " + two(parts.tm_hour) + ":" +
         two(parts.tm_min) + ":" + two(parts.tm_sec);
}

}  // namespace tenure::os
