#include "os/linux/probe_place.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/text.h"
#include "os/linux/file_system.h"
#include "os/linux/standpoint.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kEnoughRoom = 64 * kMebibyte;
constexpr std::uint64_t kEnoughNodes = 1000;

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

std::string words_of(const std::string& path, const struct stat& status) {
  return escape_controls(path) + " belongs to " + user_name_of(status.st_uid) + ", mode " + octal(status.st_mode);
}

}  // namespace

Probe probe_folder_rights(const std::string& path, FolderChecks checks) {
  const ProbeOf probe("folder", "the folder belongs to us and only we can write into it");
  const std::string name = escape_controls(path);
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) {
    return probe.bad("cannot look at " + name + ": " + system_words(errno), "make it, or choose another folder");
  }
  const std::string seen = words_of(path, status);
  if (!S_ISDIR(status.st_mode)) return probe.bad(name + " is not a folder", "choose another path");
  if ((status.st_mode & S_IWOTH) != 0) {
    return probe.bad(seen + ": everybody can write, remove and replace records", "chmod o-w '" + name + "'");
  }
  if ((status.st_mode & S_IWGRP) != 0 && !checks.group_ok) {
    return probe.bad(seen + ": its group can write", "chmod g-w '" + name + "', or say that it is meant: group=yes");
  }
  if (status.st_uid != geteuid() && !checks.any_owner) {
    return probe.bad(seen + ", and we are " + user_name_of(geteuid()),
                     "run as its owner, or say that it is meant: owner=any");
  }
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) {
    return probe.bad(seen + "; we may not write into it: " + system_words(errno), "chmod u+rwx '" + name + "'");
  }
  return probe.good(seen);
}

Probe probe_folder_above(const std::string& path) {
  const ProbeOf probe("folder above", "nobody else can put another folder in its place");
  for (std::string above = path; above.size() > 1;) {
    const std::size_t slash = above.rfind('/');
    above = slash == 0 || slash == std::string::npos ? "/" : above.substr(0, slash);
    struct stat status{};
    if (stat(above.c_str(), &status) != 0) {
      return probe.limited("cannot look at " + escape_controls(above) + ": " + system_words(errno),
                           "look at the rights of the folders above by hand");
    }
    // In a sticky folder only the owner of a name may rename it.
    const bool sticky = (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & S_IWOTH) != 0 && !sticky) {
      return probe.bad(words_of(above, status) + ": everybody can rename what is in it",
                       "chmod +t '" + escape_controls(above) + "', or move the space to a place of your own");
    }
    const bool foreign = status.st_uid != geteuid() && status.st_uid != 0;
    if (foreign || ((status.st_mode & S_IWGRP) != 0 && !sticky && status.st_gid != 0)) {
      return probe.limited(
          words_of(above, status) + ": " + (foreign ? "that user" : "its group") + " can rename what is in it",
          "trust them, or move the space to a place of your own");
    }
  }
  return probe.good("only we or root can rename the folders above it");
}

Probe probe_file_system(const std::string& path) {
  const ProbeOf probe("file system", "files keep their locks on this machine and survive a reboot");
  struct statfs status{};
  if (statfs(path.c_str(), &status) != 0) {
    return probe.bad("cannot be asked at " + escape_controls(path) + ": " + system_words(errno), "look at the folder");
  }
  const FileSystem system = file_system_of(static_cast<std::uint32_t>(status.f_type));
  const std::string seen = escape_controls(path) + " lies on " + system.name;
  if (!system.is_suitable) return probe.bad(seen + ", which keeps no files", "choose a folder on a disk");
  if (system.is_volatile) {
    return probe.limited(seen +
                             ", which is empty after a reboot: holders end with it all the same, but the epochs begin "
                             "again, so what an old epoch fenced outside this machine is fenced no more",
                         "move the space to a disk if epochs are used outside this machine");
  }
  if (system.is_remote) {
    return probe.limited(seen +
                             ", which other machines may see: flock and record locks may be local to each machine, or "
                             "lost when a server restarts",
                         "use a folder on a local disk, or make sure that the mount carries locks (nfs: no nolock, no "
                         "local_lock)");
  }
  if (system.name == "overlay") {
    return probe.limited(seen +
                             ": what is written lies in the upper layer of this container, is seen by nobody outside "
                             "it, and goes with it",
                         "mount a folder of the host into the container and use that");
  }
  if (system.name == "vfat" || system.name == "exfat" || system.name == "ntfs3") {
    return probe.limited(seen + ", which keeps neither owners nor modes of files", "use a folder on another disk");
  }
  if (system.name.starts_with("0x")) {
    return probe.limited(seen + ", a file system that tenure does not know", "trust the probes of its locks below");
  }
  return probe.good(seen);
}

Probe probe_room(const std::string& path) {
  const ProbeOf probe("room", "there is room for new records");
  struct statvfs status{};
  if (statvfs(path.c_str(), &status) != 0) {
    return probe.bad("cannot be asked at " + escape_controls(path) + ": " + system_words(errno), "look at the folder");
  }
  const std::string name = escape_controls(path);
  const std::uint64_t room = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
  const bool counts_nodes = status.f_files != 0;
  std::string seen = std::to_string(room / kMebibyte) + " MiB free";
  if (counts_nodes) seen += ", " + std::to_string(status.f_favail) + " inodes free";
  if ((status.f_flag & ST_RDONLY) != 0) {
    return probe.bad(name + " is mounted read-only: nothing can be claimed or released there", "mount -o remount,rw");
  }
  if (room < kMebibyte || (counts_nodes && status.f_favail == 0)) {
    return probe.bad(seen + ": new keys cannot be claimed", "free some of the disk under " + name);
  }
  if (room < kEnoughRoom || (counts_nodes && status.f_favail < kEnoughNodes)) {
    return probe.limited(seen, "free some of the disk under " + name);
  }
  return probe.good(std::move(seen));
}

}  // namespace tenure::os
