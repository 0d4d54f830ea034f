#include "os/linux/real_processes.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/fd.h"
#include "os/linux/proc_files.h"
#include "os/linux/standpoint.h"

namespace tenure::os {
namespace {

using Existence = ProcessSight::Existence;
using Stat = ProcessSight::Stat;

// Between two looks at one thread group it may change; more than this many times in a row it is no use.
constexpr int kThreadLooks = 5;

// glibc 2.36 has a wrapper, older ones do not.
Fd open_pidfd(std::int32_t pid) {
  return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)));
}

Existence existence_of(std::int32_t pid) {
  // A number of no process: kill(2) would take it for a group, or for everybody.
  if (pid <= 0) return Existence::cannot_tell;
  if (open_pidfd(pid)) return Existence::exists;
  // Whatever it was (none, a thread, an old kernel, a filter, no descriptors left), the older call decides.
  if (kill(pid, 0) == 0 || errno == EPERM) return Existence::exists;
  return errno == ESRCH ? Existence::absent : Existence::cannot_tell;
}

std::string proc_path(std::int32_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

struct StatSight {
  Stat status = Stat::unusable;
  ProcStat stat;
};

StatSight read_stat(const std::string& path) {
  const ProcFile file = read_proc_file(path);
  if (file.status != Stat::read) return {file.status, {}};
  auto stat = parse_proc_stat(file.bytes);
  if (!stat) return {Stat::unusable, {}};
  return {Stat::read, std::move(*stat)};
}

bool is_over(char state) {
  return state == 'Z' || state == 'X' || state == 'x';
}

struct ThreadCount {
  std::uint32_t living = 0;
  std::uint32_t ended = 0;  // seen in the list, but over
};

// nullopt where a thread could not be looked at.
std::optional<ThreadCount> count_threads(std::int32_t leader) {
  const auto ids = thread_ids(leader);
  if (!ids) return std::nullopt;
  ThreadCount count;
  for (const std::int32_t id : *ids) {
    if (id == leader) continue;
    const StatSight thread = read_stat("/proc/" + std::to_string(leader) + "/task/" + std::to_string(id) + "/stat");
    if (thread.status == Stat::absent) continue;
    if (thread.status != Stat::read) return std::nullopt;
    ++(is_over(thread.stat.state) ? count.ended : count.living);
  }
  return count;
}

// The living threads beside an ended leader. A list is not a snapshot: a thread may start another and end before it is
// looked at. So "none" is said only when the kernel's own count, read afterwards, leaves no room for one more.
std::optional<std::uint32_t> living_threads(std::int32_t leader) {
  for (int look = 0; look < kThreadLooks; ++look) {
    const auto count = count_threads(leader);
    if (!count) return std::nullopt;
    if (count->living > 0) return count->living;
    const StatSight after = read_stat(proc_path(leader, "stat"));
    if (after.status != Stat::read) return std::nullopt;
    if (after.stat.threads <= count->ended + 1) return 0;
  }
  return std::nullopt;
}

std::uint64_t start_wall_seconds(std::uint64_t ticks) {
  const ProcFile file = read_proc_file("/proc/stat");
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (file.status != Stat::read || ticks_per_second <= 0) return 0;
  const std::uint64_t boot = parse_boot_seconds(file.bytes);
  return boot == 0 ? 0 : boot + ticks / static_cast<std::uint64_t>(ticks_per_second);
}

std::uint32_t effective_user(std::int32_t pid) {
  const ProcFile status = read_proc_file(proc_path(pid, "status"));
  return static_cast<std::uint32_t>(status_number(status.bytes, "Uid:", 1).value_or(~std::uint32_t{0}));
}

std::unexpected<Error> no_such_process(std::int32_t pid) {
  return fail(Code::not_held, "there is no process " + std::to_string(pid));
}

}  // namespace

RealProcesses::RealProcesses() : self_(read_standpoint()) {}

bool RealProcesses::forked() const {
  return getpid() != self_.identity.pid;
}

bool RealProcesses::sees(std::int32_t pid) const {
  return pid > 0 && self_.proc_usable;
}

ProcessSight RealProcesses::look(std::int32_t pid) const {
  ProcessSight sight;
  sight.existence = existence_of(pid);
  if (!sees(pid)) return sight;
  const StatSight seen = read_stat(proc_path(pid, "stat"));
  sight.stat = seen.status;
  // It may have ended between the two questions; then the first answer is out of date.
  if (seen.status == Stat::absent && sight.existence == Existence::exists) sight.existence = existence_of(pid);
  if (seen.status != Stat::read) return sight;
  sight.state = seen.stat.state;
  sight.start_ticks = seen.stat.start_ticks;
  sight.start_wall_seconds = start_wall_seconds(seen.stat.start_ticks);
  if (is_over(sight.state)) {
    const auto living = living_threads(pid);
    sight.threads_counted = living.has_value();
    sight.other_threads = living.value_or(0);
  }
  return sight;
}

Result<ProcessIdentity> RealProcesses::identify(std::int32_t pid) const {
  if (pid <= 0) return no_such_process(pid);
  if (pid == self_.identity.pid && !forked()) return self_.identity;
  const ProcessSight sight = look(pid);
  if (sight.existence == Existence::absent) return no_such_process(pid);
  if (sight.stat != Stat::read) {
    return fail(Code::not_permitted, "process " + std::to_string(pid) + " cannot be seen in /proc from here",
                "name a process of the same user, pid namespace and /proc");
  }
  if (is_over(sight.state) && sight.threads_counted && sight.other_threads == 0) {
    return fail(Code::not_held, "process " + std::to_string(pid) + " has ended and only waits for its parent");
  }
  ProcessIdentity identity = self_.identity;  // boot, machine and the namespaces from which the numbers are read
  identity.pid = pid;
  identity.start_ticks = sight.start_ticks;
  identity.user = effective_user(pid);
  return identity;
}

std::string RealProcesses::command_of(std::int32_t pid) const {
  if (!sees(pid)) return {};
  const ProcFile file = read_proc_file(proc_path(pid, "cmdline"));
  return file.status == Stat::read ? shown_command(file.bytes, limits::kCommandBytes) : std::string{};
}

std::string RealProcesses::directory_of(std::int32_t pid) const {
  return sees(pid) ? escape_controls(read_proc_link(proc_path(pid, "cwd"))) : std::string{};
}

std::string RealProcesses::executable() const {
  return self_.proc_usable ? read_proc_link("/proc/self/exe") : std::string{};
}

int RealProcesses::death_descriptor(std::int32_t pid) const {
  return pid > 0 ? open_pidfd(pid).release() : -1;
}

}  // namespace tenure::os
