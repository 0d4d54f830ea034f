#include "os/linux/probe_cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "os/linux/proc_files.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

// Calls `each` for every line until it says true.
template <class Each>
void each_line(const std::string& path, Each each) {
  const ProcFile file = read_proc_file(path);
  std::string_view rest = file.status == ProcessSight::Stat::read ? file.bytes : std::string_view{};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (each(rest.substr(0, end))) return;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Where version 2 is mounted; empty if it is not. See proc_pid_mountinfo(5): the mount point is the fifth field.
std::string version_2_mount() {
  std::string found;
  each_line("/proc/self/mountinfo", [&](std::string_view line) {
    if (line.find(" - cgroup2 ") == std::string_view::npos) return false;
    for (int field = 0; field < 4; ++field) line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
    found = std::string(line.substr(0, line.find(' ')));
    return true;
  });
  return found;
}

std::string own_group() {
  std::string found;
  each_line("/proc/self/cgroup", [&](std::string_view line) {
    if (!line.starts_with("0::")) return false;
    found = std::string(line.substr(3));
    return true;
  });
  return found;
}

}  // namespace

Probe probe_control_group() {
  const ProbeOf probe("control group", "a command can be ended with everything that it started");
  const std::string fallback =
      ": what leaves the process group and outlives its parent is found through the subreaper, as long as it has not "
      "been "
      "killed itself";
  const std::string mount = version_2_mount();
  if (mount.empty()) {
    return probe.limited("version 2 of control groups is not mounted" + fallback,
                         "boot with systemd.unified_cgroup_hierarchy=1, or mount -t cgroup2 none /sys/fs/cgroup");
  }
  const std::string group = own_group();
  const std::string here = mount + (group == "/" ? "" : group);
  const std::string child = here + "/tenure-probe-" + std::to_string(getpid());
  const std::string seen = "version 2 at " + escape_controls(mount) + ", our group is " + escape_controls(group);
  if (mkdir(child.c_str(), 0700) != 0) {
    return probe.limited(seen + ", where no child group can be made: " + system_words(errno) + fallback,
                         "run in a delegated group: systemd-run --user --scope -p Delegate=yes COMMAND");
  }
  const bool kills = access((child + "/cgroup.kill").c_str(), W_OK) == 0;
  rmdir(child.c_str());
  if (kills) return probe.good(seen + ", where a child group can be made and killed as a whole (cgroup.kill)");
  return probe.limited(seen + ", where a child group can be made, but not killed in one step",
                       "use a kernel of 5.14 or later");
}

}  // namespace tenure::os
