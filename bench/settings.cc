#include "settings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "must.h"

namespace tenure::bench {
namespace {

bool take(Settings& settings, std::string_view argument) {
  const auto equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = argument.substr(0, equals);
  const std::string value(argument.substr(equals + 1));
  const std::map<std::string_view, int*> numbers = {{"--handoff_turns", &settings.handoff_turns},
                                                    {"--takeovers", &settings.takeovers},
                                                    {"--turns", &settings.turns},
                                                    {"--process_turns", &settings.process_turns}};
  if (name == "--folder") {
    settings.folder = value;
  } else if (name == "--program") {
    settings.program = value;
  } else if (name == "--handoff_seconds") {
    settings.handoff_seconds = std::atof(value.c_str());
  } else if (name == "--brief") {
    settings.brief = value == "1";
  } else if (const auto known = numbers.find(name); known != numbers.end()) {
    *known->second = std::atoi(value.c_str());
  } else {
    return false;
  }
  return true;
}

}  // namespace

Settings take_settings(int* count, char** arguments) {
  Settings settings;
  int kept = 1;
  for (int index = 1; index < *count; ++index) {
    if (!take(settings, arguments[index])) arguments[kept++] = arguments[index];
  }
  *count = kept;
  if (settings.folder.empty()) stop_here("usage: --folder=DIR is needed; bench/compare gives it");
  const int least = std::min({settings.handoff_turns, settings.takeovers, settings.turns, settings.process_turns});
  if (settings.handoff_seconds <= 0 || least < 1) stop_here("a duration and a count must be positive");
  return settings;
}

}  // namespace tenure::bench
