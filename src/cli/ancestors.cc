#include "cli/ancestors.h"

#include <cstdlib>
#include <string>

#include "cli/files.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr int kMostGenerations = 1000;
constexpr std::size_t kStatBytes = 4096;

// Field 4 of /proc/PID/stat; 0 where it cannot be read. Field 2, the name, may hold blanks and parentheses.
int parent_of(int pid) {
  auto file = open_to_read("/proc/" + std::to_string(pid) + "/stat");
  if (!file) return 0;
  const std::string stat = read_all(file->get(), kStatBytes, "stat").value_or("");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 4 > stat.size() ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

bool comes_of(int pid, int ancestor) {
  for (int generation = 0; generation < kMostGenerations && pid > 0; ++generation) {
    if (pid == ancestor) return true;
    pid = parent_of(pid);
  }
  return false;
}

// Its number means a process that we see under that number.
bool is_among_us(const ProcessIdentity& process, const ProcessIdentity& self) {
  return process.pid > 0 && process.boot_id == self.boot_id && process.pid_namespace == self.pid_namespace;
}

}  // namespace

bool ancestors_are_seen() {
  return parent_of(compose::real_environment().processes->self().identity.pid) != 0;
}

bool is_ancestor(const ProcessIdentity& process) {
  const ProcessIdentity self = compose::real_environment().processes->self().identity;
  return is_among_us(process, self) && comes_of(parent_of(self.pid), process.pid);
}

bool descends(const ProcessIdentity& process, const ProcessIdentity& ancestor) {
  const ProcessIdentity self = compose::real_environment().processes->self().identity;
  return is_among_us(process, self) && is_among_us(ancestor, self) && comes_of(process.pid, ancestor.pid);
}

}  // namespace tenure::cli
