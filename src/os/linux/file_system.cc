#include "os/linux/file_system.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace tenure::os {
namespace {

enum class Kind { local, remote, passing, unfit };

struct Known {
  std::uint32_t magic;
  std::string_view name;
  Kind kind;
};

// Numbers from linux/magic.h and statfs(2); the ones of file systems outside the kernel from their own sources.
constexpr auto kKnown = std::to_array<Known>({
    {0x0000ef53, "ext4", Kind::local},       {0x58465342, "xfs", Kind::local},
    {0x9123683e, "btrfs", Kind::local},      {0xf2f52010, "f2fs", Kind::local},
    {0x2fc12fc1, "zfs", Kind::local},        {0xca451a4e, "bcachefs", Kind::local},
    {0x794c7630, "overlay", Kind::local},    {0x00004d44, "vfat", Kind::local},
    {0x2011bab0, "exfat", Kind::local},      {0x7366746e, "ntfs3", Kind::local},
    {0x3153464a, "jfs", Kind::local},        {0x52654973, "reiserfs", Kind::local},
    {0x01021994, "tmpfs", Kind::passing},    {0x858458f6, "ramfs", Kind::passing},
    {0x00006969, "nfs", Kind::remote},       {0x0000517b, "smb", Kind::remote},
    {0xff534d42, "cifs", Kind::remote},      {0xfe534d42, "smb2", Kind::remote},
    {0x65735546, "fuse", Kind::remote},      {0x01021997, "9p", Kind::remote},
    {0x5346414f, "afs", Kind::remote},       {0x6b414653, "kafs", Kind::remote},
    {0x00c36400, "ceph", Kind::remote},      {0x73757245, "coda", Kind::remote},
    {0x0000564c, "ncp", Kind::remote},       {0x7461636f, "ocfs2", Kind::remote},
    {0x01161970, "gfs2", Kind::remote},      {0x0bd00bd0, "lustre", Kind::remote},
    {0x47504653, "gpfs", Kind::remote},      {0x20030528, "orangefs", Kind::remote},
    {0x786f4256, "vboxsf", Kind::remote},    {0xbacbacbc, "vmhgfs", Kind::remote},
    {0x19830326, "beegfs", Kind::remote},    {0xaad7aaea, "panfs", Kind::remote},
    {0x00009fa0, "proc", Kind::unfit},       {0x62656572, "sysfs", Kind::unfit},
    {0x0027e0eb, "cgroup", Kind::unfit},     {0x63677270, "cgroup2", Kind::unfit},
    {0x64626720, "debugfs", Kind::unfit},    {0x74726163, "tracefs", Kind::unfit},
    {0x73636673, "securityfs", Kind::unfit}, {0xf97cff8c, "selinux", Kind::unfit},
    {0xcafe4a11, "bpf", Kind::unfit},        {0x00001cd1, "devpts", Kind::unfit},
    {0x6165676c, "pstore", Kind::unfit},     {0xde5e81e4, "efivarfs", Kind::unfit},
    {0x62656570, "configfs", Kind::unfit},   {0x958458f6, "hugetlbfs", Kind::unfit},
    {0x19800202, "mqueue", Kind::unfit},     {0x42494e4d, "binfmt_misc", Kind::unfit},
    {0x6e736673, "nsfs", Kind::unfit},       {0x73717368, "squashfs", Kind::local},
});

}  // namespace

FileSystem file_system_of(std::uint32_t magic) {
  for (const Known& known : kKnown) {
    if (known.magic != magic) continue;
    return {std::string(known.name), known.kind != Kind::unfit, known.kind == Kind::remote,
            known.kind == Kind::passing};
  }
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "0x%08x", magic);
  return {number.data()};
}

}  // namespace tenure::os
