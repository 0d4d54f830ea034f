#include "cli/guards_around.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "base/text.h"
#include "cli/ancestors.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

std::string guards_before() {
  const char* value = std::getenv(kGuardsVariable);
  return value == nullptr ? "" : value;
}

template <class Number>
bool read_number(const std::string& text, Number& into) {
  return std::from_chars(text.data(), text.data() + text.size(), into).ec == std::errc{};
}

bool is_around_us(const std::string& pid_text, const std::string& start_text) {
  std::int32_t pid = 0;
  std::uint64_t start = 0;
  if (!read_number(pid_text, pid) || !read_number(start_text, start)) return false;
  const auto process = compose::real_environment().processes->identify(pid);
  return process && process->start_ticks == start && is_ancestor(*process);
}

}  // namespace

std::string guards_with(const Key& key, Epoch epoch, const std::string& url) {
  const std::string before = guards_before();
  const ProcessIdentity self = compose::real_environment().processes->self().identity;
  return (before.empty() ? "" : before + ";") + epoch.text() + " " + percent_encode(key.text()) + " " +
         percent_encode(url) + " " + std::to_string(self.pid) + " " + std::to_string(self.start_ticks);
}

bool is_guarded_around(const Key& key, const std::string& url) {
  std::istringstream all(guards_before());
  for (std::string entry; std::getline(all, entry, ';');) {
    std::istringstream words(entry);
    std::string epoch, named, space, pid, start;
    words >> epoch >> named >> space >> pid >> start;
    if (named == percent_encode(key.text()) && space == percent_encode(url) && is_around_us(pid, start)) return true;
  }
  return false;
}

}  // namespace tenure::cli
