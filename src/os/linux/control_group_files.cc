#include "os/linux/control_group_files.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <string_view>

#include "os/linux/proc_files.h"

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

bool is_version_2(const char* folder) {
  struct ::statfs seen{};
  return ::statfs(folder, &seen) == 0 && seen.f_type == CGROUP2_SUPER_MAGIC;
}

}  // namespace

std::string control_group_mount() {
  // Where it lies on nearly every machine: alone, or beside version 1.
  for (const char* usual : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (is_version_2(usual)) return usual;
  }
  std::string found;
  // See proc_pid_mountinfo(5): the mount point is the fifth field.
  each_line("/proc/self/mountinfo", [&](std::string_view line) {
    if (line.find(" - cgroup2 ") == std::string_view::npos) return false;
    for (int field = 0; field < 4; ++field) line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
    found = std::string(line.substr(0, line.find(' ')));
    if (!is_version_2(found.c_str())) found.clear();  // another lies over it
    return !found.empty();
  });
  return found;
}

std::string own_control_group() {
  std::string found;
  each_line("/proc/self/cgroup", [&](std::string_view line) {
    if (!line.starts_with("0::/")) return false;
    // One above the top of its namespace is shown as "/..".
    if (!line.starts_with("0::/..")) found = std::string(line.substr(3));
    return true;
  });
  return found;
}

std::string own_control_group_folder() {
  const std::string mount = control_group_mount();
  const std::string group = own_control_group();
  if (mount.empty() || group.empty()) return {};
  return group == "/" ? mount : mount + group;
}

}  // namespace tenure::os
