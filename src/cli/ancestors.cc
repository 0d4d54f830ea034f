#include "cli/ancestors.h"

#include "cli/process_stat.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr int kMostGenerations = 1000;

bool comes_of(int pid, int ancestor) {
  for (int generation = 0; generation < kMostGenerations && pid > 0; ++generation) {
    if (pid == ancestor) return true;
    pid = stat_of(pid).parent;
  }
  return false;
}

// Its number means a process that we see under that number.
bool is_among_us(const ProcessIdentity& process, const ProcessIdentity& self) {
  return process.pid > 0 && process.boot_id == self.boot_id && process.pid_namespace == self.pid_namespace;
}

}  // namespace

bool ancestors_are_seen() {
  return stat_of(compose::real_environment().processes->self().identity.pid).parent != 0;
}

bool is_ancestor(const ProcessIdentity& process) {
  const ProcessIdentity self = compose::real_environment().processes->self().identity;
  return is_among_us(process, self) && comes_of(stat_of(self.pid).parent, process.pid);
}

bool descends(const ProcessIdentity& process, const ProcessIdentity& ancestor) {
  const ProcessIdentity self = compose::real_environment().processes->self().identity;
  return is_among_us(process, self) && is_among_us(ancestor, self) && comes_of(process.pid, ancestor.pid);
}

}  // namespace tenure::cli
