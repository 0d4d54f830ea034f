#include "os/linux/probe_cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/text.h"
#include "os/linux/control_group_files.h"
#include "os/linux/system_error.h"

namespace tenure::os {

Probe probe_control_group() {
  const ProbeOf probe("control group", "a command can be ended with everything that it started");
  const std::string fallback =
      ": what leaves the process group and outlives its parent is found through the subreaper, as long as it has not "
      "been "
      "killed itself";
  const std::string mount = control_group_mount();
  if (mount.empty()) {
    return probe.limited("version 2 of control groups is not mounted" + fallback,
                         "boot with systemd.unified_cgroup_hierarchy=1, or mount -t cgroup2 none /sys/fs/cgroup");
  }
  const std::string group = own_control_group();
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
