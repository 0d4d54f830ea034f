// What file system a folder lies on, and what that means for files that carry locks.
#pragma once

#include <cstdint>
#include <string>

namespace tenure::os {

struct FileSystem {
  std::string name;          // "ext4", "nfs"; an unknown one is named by its number, "0x1234abcd"
  bool is_suitable = true;   // false: no place for files of ours at all (procfs, sysfs, cgroup and the like)
  bool is_remote = false;    // other machines may see the same files: locks may be local only, or lost
  bool is_volatile = false;  // gone after a reboot
  friend bool operator==(const FileSystem&, const FileSystem&) = default;
};

// By f_type of statfs(2).
FileSystem file_system_of(std::uint32_t magic);

}  // namespace tenure::os
