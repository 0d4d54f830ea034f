#include "os/linux/probe_kernel.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <functional>

#include "base/text.h"
#include "os/linux/fd.h"
#include "os/linux/probe_child.h"
#include "os/linux/proc_files.h"
#include "os/linux/real_clock.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using Stat = ProcessSight::Stat;

constexpr Duration kBound = std::chrono::seconds{5};
constexpr Duration kYear2020 = std::chrono::seconds{1'577'836'800};

struct Feature {
  std::string name;
  std::string promise;
  std::string instead;  // what tenure does without it
  bool vital = false;
  std::function<int()> call;  // 0, or the errno
};

int outcome(long result) {
  return result < 0 ? errno : 0;
}

int try_pidfd() {
#ifdef SYS_pidfd_open
  const Fd descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  return descriptor ? 0 : errno;
#else
  return ENOSYS;
#endif
}

// From the highest number on there is nothing to close.
int try_close_range() {
#ifdef SYS_close_range
  return outcome(syscall(SYS_close_range, UINT_MAX, UINT_MAX, 0));
#else
  return ENOSYS;
#endif
}

// No futexes at all is refused as a bad argument by a kernel that has the call.
int try_futex_waitv() {
#ifdef SYS_futex_waitv
  const int error = outcome(syscall(SYS_futex_waitv, nullptr, 0, 0, nullptr, 0));
  return error == EINVAL ? 0 : error;
#else
  return ENOSYS;
#endif
}

int try_record_lock() {
  const Fd file(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return outcome(fcntl(file.get(), F_OFD_GETLK, &lock));
}

int try_subreaper() {
  return outcome(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));  // of the child that tries it
}

Probe probe_feature(const Feature& feature) {
  const ProbeOf probe(feature.name, feature.promise);
  const std::string remedy = "use a kernel of 5.16 or later, and allow it in the seccomp profile of the container";
  const auto result = result_in_child(feature.call, kBound);
  if (result && *result == 0) return probe.good("it works");
  const std::string seen = result ? system_words(*result) : "the process that tried it was killed, or could not be had";
  const std::string evidence = seen + "; " + feature.instead;
  return feature.vital ? probe.bad(evidence, remedy) : probe.limited(evidence, remedy);
}

std::string trimmed_file(const std::string& path, Stat& status) {
  const ProcFile file = read_proc_file(path);
  status = file.status;
  return file.status == Stat::read ? escape_controls(cut_text(trim(file.bytes), 64)) : std::string{};
}

}  // namespace

Probe probe_kernel_version() {
  const ProbeOf probe("kernel", "Linux 5.16 or later");
  utsname name{};
  if (uname(&name) != 0) return probe.limited("cannot be asked: " + system_words(errno), "uname -r");
  char* rest = nullptr;
  const long major = std::strtol(name.release, &rest, 10);
  const long minor = rest != nullptr && *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  const std::string seen = std::string(name.sysname) + " " + escape_controls(name.release) + " on " + name.machine;
  if (major > 5 || (major == 5 && minor >= 16)) return probe.good(seen);
  return probe.limited(seen + ": what it lacks is named below", "use a newer kernel");
}

std::vector<Probe> probe_kernel_features() {
  const std::array<Feature, 5> features = {{
      {"pidfd", "the death of any process is told at once", "deaths are noticed by looking now and then", false,
       try_pidfd},
      {"close_range", "children get no descriptors but their own", "they are closed one by one", false,
       try_close_range},
      {"futex_waitv", "one wait covers several words", "who waits in a local: space looks every 10 ms", false,
       try_futex_waitv},
      {"record locks", "a lock belongs to an open file, not to a process",
       "without it no holder can be proven dead or alive by its lock", true, try_record_lock},
      {"subreaper", "what a command left behind can be found and ended",
       "descendants that daemonised are out of reach of run", false, try_subreaper},
  }};
  std::vector<Probe> probes;
  for (const Feature& feature : features) probes.push_back(probe_feature(feature));
  return probes;
}

Probe probe_boot_id() {
  const ProbeOf probe("boot id", "a record of before the last reboot is told from one of now");
  Stat status{};
  const std::string id = trimmed_file("/proc/sys/kernel/random/boot_id", status);
  if (id.size() == 36) return probe.good(id);
  return probe.bad(id.empty() ? "it cannot be read" : "it is not one: " + id,
                   "mount /proc; until then holders are judged by their life locks alone");
}

Probe probe_machine_id() {
  const ProbeOf probe("machine id", "machines that share a folder are told from each other");
  Stat status{};
  const std::string id = trimmed_file("/etc/machine-id", status);
  if (id.size() == 32 && from_hex(id)) return probe.good(id);
  const std::string seen = status != Stat::read ? "/etc/machine-id cannot be read"
                           : id.empty()         ? "/etc/machine-id is empty"
                                                : "/etc/machine-id says " + id;
  return probe.limited(seen + "; machines are then told by host name and boot id", "systemd-machine-id-setup");
}

Probe probe_clocks() {
  const ProbeOf probe("clocks", "time never runs backwards, and the sleep of the machine is counted apart");
  const RealClock clock;
  const MonotonicTime monotonic = clock.monotonic();
  const BootTime boot = clock.boottime();
  const MonotonicTime later = clock.monotonic();
  const Duration slept = boot.since_origin - monotonic.since_origin;
  const std::string seen = "monotonic " + words(monotonic.since_origin) + ", boot time " + words(boot.since_origin);
  if (monotonic.since_origin <= Duration::zero() || boot.since_origin <= Duration::zero() || later < monotonic) {
    return probe.bad(seen + ": a clock stands still or runs backwards", "look at the clock source of this machine");
  }
  if (slept < -std::chrono::milliseconds{1}) {
    return probe.limited(seen + ": the boot-time clock is behind, as in a time namespace with offsets",
                         "share a space among processes of one time namespace");
  }
  return probe.good(seen + (slept < std::chrono::seconds{1} ? std::string("; the machine has not slept")
                                                            : "; asleep for " + words(slept)));
}

Probe probe_wall_clock() {
  const ProbeOf probe("wall clock", "people and AgentMux read dates that are right; tenure decides nothing by them");
  const WallTime now = RealClock().wall();
  if (now.since_origin > kYear2020) return probe.good(iso8601(now));
  return probe.limited(iso8601(now) +
                           " cannot be right: AgentMux would take living holders for expired ones, or dead ones "
                           "for fresh",
                       "set the clock (timedatectl set-ntp true)");
}

Probe probe_randomness() {
  const ProbeOf probe("random bytes", "no two claims have one id");
  const auto result = result_in_child(
      [] {
        std::array<unsigned char, 16> bytes{};
        return outcome(getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK));
      },
      kBound);
  if (result && *result == 0) return probe.good("getrandom gives them");
  if (result && *result == EAGAIN) {
    return probe.limited("the kernel has not gathered enough yet, early in this boot; claims wait for it",
                         "wait, or give the machine a source (virtio-rng)");
  }
  return probe.bad(
      result ? "getrandom: " + system_words(*result) : "the process that asked was killed, or could not be had",
      "allow getrandom in the seccomp profile of the container");
}

}  // namespace tenure::os
