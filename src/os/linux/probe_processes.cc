#include "os/linux/probe_processes.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/text.h"
#include "os/linux/proc_files.h"
#include "os/linux/standpoint.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using Stat = ProcessSight::Stat;

// The inodes of the namespaces that the kernel boots with: fixed in its sources (PROC_*_INIT_INO).
constexpr std::uint64_t kFirstUserNamespace = 0xEFFFFFFDU;
constexpr std::uint64_t kFirstPidNamespace = 0xEFFFFFFCU;
constexpr std::uint64_t kFirstTimeNamespace = 0xEFFFFFFAU;

constexpr rlim_t kFewDescriptors = 64;
constexpr rlim_t kEnoughDescriptors = 256;
constexpr rlim_t kEnoughProcesses = 64;

std::string first_line(const std::string& path) {
  const ProcFile file = read_proc_file(path);
  if (file.status != Stat::read) return {};
  return escape_controls(trim(std::string_view(file.bytes).substr(0, file.bytes.find('\n'))));
}

std::string word_of(Stat stat) {
  switch (stat) {
    case Stat::read:
      return "read";
    case Stat::absent:
      return "not there";
    case Stat::denied:
      return "not permitted";
    case Stat::unusable:
      return "unusable";
  }
  return {};
}

// The option of the mount that shadows all others at /proc: the last one listed.
std::string hidepid_option() {
  const ProcFile mounts = read_proc_file("/proc/self/mountinfo");
  std::string found;
  std::string_view rest = mounts.status == Stat::read ? mounts.bytes : std::string_view{};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find(" /proc ") == std::string_view::npos) continue;
    found.clear();
    const std::size_t at = line.find("hidepid=");
    if (at != std::string_view::npos) found = std::string(line.substr(at, line.find(',', at) - at));
  }
  return found;
}

std::string words_of(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

}  // namespace

Probe probe_proc() {
  const ProbeOf probe("/proc", "the start of any process can be read, so a reused pid is told from its former owner");
  constexpr char kMount[] = "mount -t proc proc /proc";
  if (!proc_is_procfs()) {
    return probe.bad("/proc is not procfs: holders are judged by their life locks alone, others count as unknown",
                     kMount);
  }
  if (!read_standpoint().proc_usable) {
    return probe.bad("/proc shows the processes of another pid namespace, so its numbers mean nothing here",
                     std::string(kMount) + " in this namespace");
  }
  const ProcFile init = read_proc_file("/proc/1/stat");
  const std::string option = hidepid_option();
  const std::string seen = "/proc shows ourselves; /proc/1/stat: " + word_of(init.status) +
                           (option.empty() ? "" : "; mounted with " + option);
  if (init.status != Stat::read) {
    return probe.limited(seen + ": the processes of other users cannot be judged and count as unknown",
                         "mount -o remount,hidepid=0 /proc, or keep each space to one user");
  }
  return probe.good(seen);
}

Probe probe_proc_locks() {
  const ProbeOf probe("/proc/locks", "who sits in a locked section for long can be named");
  const ProcFile locks = read_proc_file("/proc/locks");
  if (locks.status == Stat::read) return probe.good("/proc/locks can be read");
  return probe.limited(
      "/proc/locks: " + word_of(locks.status) + "; a section that stays busy is reported without a pid",
      "none is needed for safety");
}

Probe probe_pid_namespace() {
  const ProbeOf probe("pid namespace", "a pid in a record means the same process to all who share the space");
  const std::uint64_t inode = namespace_inode("/proc/self/ns/pid");
  if (inode == 0) {
    return probe.limited("it cannot be named; holders are judged by their life locks alone", "mount /proc");
  }
  if (inode == kFirstPidNamespace) return probe.good("the first one of this machine");
  return probe.limited("an inner one (inode " + std::to_string(inode) +
                           "): holders in other namespaces are judged by their life locks alone, else they are unknown",
                       "none is needed when all who share the space live in this container");
}

Probe probe_time_namespace() {
  const ProbeOf probe("time namespace", "the boot-time clocks of all who share the space agree");
  const std::uint64_t inode = namespace_inode("/proc/self/ns/time");
  const ProcFile offsets = read_proc_file("/proc/self/timens_offsets");
  if (inode == kFirstTimeNamespace) return probe.good("the first one of this machine");
  if (inode == 0) return probe.good("this kernel has none, or does not name it");
  std::string shown = offsets.status == Stat::read ? escape_controls(trim(offsets.bytes)) : "unknown";
  return probe.limited("an inner one (inode " + std::to_string(inode) + "), offsets: " + shown +
                           "; ages and starts of processes in other time namespaces are not compared with ours",
                       "share a space among processes of one time namespace");
}

Probe probe_user_namespace() {
  const ProbeOf probe("user namespace", "user ids mean the same users to all who share the space");
  const std::uint64_t inode = namespace_inode("/proc/self/ns/user");
  if (inode == kFirstUserNamespace) return probe.good("the first one of this machine");
  if (inode == 0) return probe.limited("it cannot be named", "mount /proc");
  return probe.limited(
      "an inner one (inode " + std::to_string(inode) + "), map of ids: " + first_line("/proc/self/uid_map"),
      "share a space among processes of one user namespace, or see to it that the maps agree");
}

Probe probe_seccomp() {
  const ProbeOf probe("seccomp", "no filter forbids system calls that tenure uses");
  const ProcFile status = read_proc_file("/proc/self/status");
  const auto mode = status.status == Stat::read ? status_number(status.bytes, "Seccomp:", 0) : std::nullopt;
  if (!mode) return probe.limited("/proc does not tell", "look at the probes of the kernel");
  if (*mode == 0) return probe.good("no filter on this process");
  return probe.limited("mode " + std::to_string(*mode) +
                           ": some system calls may be refused; the probes of the kernel tell "
                           "which",
                       "allow what is missing there in the profile of the container");
}

Probe probe_tracing() {
  const ProbeOf probe("tracing", "who may stop or read other processes of the same user is known");
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  if (scope.empty()) {
    return probe.good(
        "Yama is not there: processes of one user can trace each other (the user id is the boundary of trust)");
  }
  return probe.good("Yama ptrace_scope is " + scope);
}

Probe probe_descriptors() {
  const ProbeOf probe("open files", "there are descriptors enough for leases and waits");
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return probe.limited("cannot be asked: " + system_words(errno), "ulimit -n");
  const std::string seen = "limit " + words_of(limit.rlim_cur) + ", may be raised to " + words_of(limit.rlim_max);
  if (limit.rlim_cur < kFewDescriptors) return probe.bad(seen, "ulimit -n 1024");
  if (limit.rlim_cur < kEnoughDescriptors) return probe.limited(seen, "ulimit -n 1024");
  return probe.good(seen);
}

Probe probe_process_limit() {
  const ProbeOf probe("processes", "run and claim can start what they keep");
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0)
    return probe.limited("cannot be asked: " + system_words(errno), "ulimit -u");
  const std::string seen = "limit " + words_of(limit.rlim_cur) + " for this user";
  if (limit.rlim_cur < kEnoughProcesses) return probe.limited(seen, "ulimit -u 4096");
  return probe.good(seen);
}

}  // namespace tenure::os
