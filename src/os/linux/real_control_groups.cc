#include "os/linux/real_control_groups.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/descriptor.h"
#include "base/text.h"
#include "os/linux/control_group_files.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using env::GroupSight;

base::Descriptor open_folder_of(const std::string& folder) {
  return base::Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

// The number of its inode, which is its id. 0: it cannot be asked, or is none of version 2.
std::uint64_t id_of(const base::Descriptor& folder) {
  struct ::statfs system{};
  struct ::stat seen{};
  if (::fstatfs(folder.get(), &system) != 0 || system.f_type != CGROUP2_SUPER_MAGIC) return 0;
  return ::fstat(folder.get(), &seen) == 0 ? seen.st_ino : 0;
}

// See "cgroup.events" in the kernel's guide to control groups.
GroupSight population_of(const base::Descriptor& folder) {
  const base::Descriptor events(::openat(folder.get(), "cgroup.events", O_RDONLY | O_CLOEXEC));
  std::array<char, 256> bytes{};
  const ::ssize_t got = events.open() ? ::read(events.get(), bytes.data(), bytes.size()) : -1;
  // Removed after it was opened.
  if (got < 0) return errno == ENODEV ? GroupSight::gone : GroupSight::unseen;
  const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  if (text.find("populated 0\n") != std::string_view::npos) return GroupSight::empty;
  return text.find("populated 1\n") != std::string_view::npos ? GroupSight::populated : GroupSight::unseen;
}

}  // namespace

Result<env::GroupIdentity> RealControlGroups::identify(const std::string& folder) const {
  const std::string mount = control_group_mount();
  const base::Descriptor opened = open_folder_of(folder);
  if (!opened.open()) return system_failure(errno, "open the control group", folder);
  env::GroupIdentity out;
  out.group = id_of(opened);
  if (mount.empty() || out.group == 0 || !folder.starts_with(mount + "/")) {
    return fail(Code::usage, "not the folder of a control group of version 2: " + escape_controls(folder));
  }
  out.root = id_of(open_folder_of(mount));
  out.path = folder.substr(mount.size());
  if (out.root == 0) return fail(Code::not_permitted, "cannot open the top of the control groups");
  return out;
}

GroupSight RealControlGroups::look(const env::GroupIdentity& group) const {
  const std::string mount = control_group_mount();
  if (mount.empty() || group.path.empty()) return GroupSight::unseen;
  // From another namespace of control groups, the same path would be that of another group.
  const std::uint64_t root = id_of(open_folder_of(mount));
  if (root == 0 || root != group.root) return GroupSight::unseen;
  const base::Descriptor folder = open_folder_of(mount + group.path);
  if (!folder.open()) return errno == ENOENT ? GroupSight::gone : GroupSight::unseen;
  const std::uint64_t id = id_of(folder);
  if (id == 0) return GroupSight::unseen;
  return id == group.group ? population_of(folder) : GroupSight::gone;
}

}  // namespace tenure::os
