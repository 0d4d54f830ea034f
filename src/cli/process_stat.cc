#include "cli/process_stat.h"

#include <charconv>
#include <string>

#include "cli/files.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kStatBytes = 4096;

}  // namespace

// Fields 3 and 4; field 2, the name, may hold blanks and parentheses.
ProcessStat stat_of(int pid) {
  const auto file = open_to_read("/proc/" + std::to_string(pid) + "/stat");
  if (!file) return {};
  const std::string text = read_all(file->get(), kStatBytes, "stat").value_or("");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= text.size()) return {};
  ProcessStat stat{0, text[name_end + 2]};
  std::from_chars(text.data() + name_end + 4, text.data() + text.size(), stat.parent);
  return stat;
}

}  // namespace tenure::cli
