#include "os/linux/local_place.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using Birth = env::LocalFolder::Birth;

// Where a mapped file is coherent among processes, its locks belong to this kernel, and room can be had in advance. On
// overlay that holds of files in its upper layer, and every file of ours was made, or opened for writing, there.
constexpr auto kFit = std::to_array<std::string_view>({"ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay"});
constexpr std::string_view kVolatile = "tmpfs";

Result<void> check_fit(const OpenedFolder& opened, bool volatile_ok) {
  const std::string& name = opened.file_system.name;
  if (std::ranges::find(kFit, name) != kFit.end()) return {};
  const std::string lies = escape_controls(opened.folder.path) + " lies on " + name;
  if (name == kVolatile) {
    if (volatile_ok) return {};
    return fail(Code::unsuitable_folder, lies + ", which forgets everything at a reboot, the epochs too",
                "choose a folder on a disk, or say that it may: local:NAME?volatile");
  }
  return fail(Code::unsuitable_folder, lies + ", on which a local space cannot rely",
              "choose a folder on ext4, xfs, btrfs, f2fs or zfs");
}

Result<Birth> birth_of(const Folder& folder) {
  struct stat status{};
  if (fstat(folder.descriptor.get(), &status) != 0) return system_failure(errno, "look at", folder.path);
  Birth birth{identity_of(status), 0};
  struct statx more{};
  const bool told = statx(folder.descriptor.get(), "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0;
  if (told && (more.stx_mask & STATX_BTIME) != 0) {
    birth.born = static_cast<std::uint64_t>(more.stx_btime.tv_sec) * 1'000'000'000U + more.stx_btime.tv_nsec;
  }
  return birth;
}

// The identity of what a path leads to; nullopt: nothing. `follow`: as AT_SYMLINK_FOLLOW says.
Result<std::optional<FileIdentity>> found_at(const std::string& path, bool follow) {
  struct stat status{};
  if (fstatat(AT_FDCWD, path.c_str(), &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0) return identity_of(status);
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  return system_failure(errno, "look at", path);
}

std::unexpected<Error> moved(const std::string& path, const char* what) {
  return fail(Code::unreachable, "the folder " + escape_controls(path) + " " + what,
              "open the space anew where it lies now");
}

}  // namespace

Result<std::shared_ptr<const LocalPlace>> LocalPlace::find(const std::string& path, bool create, FolderChecks checks,
                                                           bool volatile_ok) {
  auto opened = open_folder(path, create, checks);
  if (!opened) return fail(opened.error());
  // Who only looks may look anywhere.
  if (!checks.observe_only) {
    if (auto fit = check_fit(*opened, volatile_ok); !fit) return fail(fit.error());
  }
  const auto birth = birth_of(opened->folder);
  if (!birth) return fail(birth.error());
  return std::shared_ptr<const LocalPlace>(new LocalPlace(*opened, checks, *birth));
}

LocalPlace::LocalPlace(const OpenedFolder& opened, FolderChecks checks, Birth birth)
    : path_(opened.folder.path),
      file_system_(opened.file_system),
      birth_(birth),
      owner_(opened.folder.owner),
      group_(opened.folder.group),
      any_owner_(opened.folder.any_owner),
      file_mode_(opened.folder.file_mode),
      checks_(checks) {}

Result<Folder> LocalPlace::open() const {
  Fd descriptor(retry_interrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!descriptor) {
    if (errno == ENOENT || errno == ENOTDIR) return moved(path_, "is gone");
    return system_failure(errno, "open the folder", path_);
  }
  struct stat status{};
  if (fstat(descriptor.get(), &status) != 0) return system_failure(errno, "look at", path_);
  if (identity_of(status) != birth_.identity) return moved(path_, "is another one now");
  return Folder{std::move(descriptor), path_, owner_, group_, any_owner_, file_mode_, checks_.most_links};
}

Result<bool> LocalPlace::in_place() const {
  const auto found = found_at(path_, true);
  if (!found) return fail(found.error());
  return *found == birth_.identity;
}

Result<bool> LocalPlace::leads_to(const std::string& name, FileIdentity file) const {
  const auto found = found_at(at(name), false);
  if (!found) return fail(found.error());
  return *found == file;
}

}  // namespace tenure::os
