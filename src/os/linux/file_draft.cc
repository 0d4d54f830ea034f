#include "os/linux/file_draft.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/standpoint.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr int kRaces = 16;
constexpr std::size_t kMostAttributeBytes = std::size_t{64} * 1024;  // XATTR_LIST_MAX, XATTR_SIZE_MAX of Linux
constexpr mode_t kPermissions = 0777;
constexpr const char* kAccessList = "system.posix_acl_access";

std::unexpected<Error> draft_failure(int error, std::string_view doing, const Folder& folder, const std::string& name) {
  return system_failure(error, doing, folder.path + "/" + name);
}

Result<std::optional<struct stat>> look_at(const Folder& folder, const std::string& name) {
  struct stat status{};
  if (fstatat(folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  return draft_failure(errno, "look at", folder, name);
}

Result<std::optional<struct stat>> look_at_target(const Folder& folder, const std::string& name) {
  auto status = look_at(folder, name);
  if (!status || !*status) return status;
  const std::string place = shown(folder, name);
  if (S_ISLNK((*status)->st_mode)) {
    return fail(Code::usage, place + " is a link: replacing it would leave the file behind it as it is",
                "name the file itself: readlink -f '" + place + "'");
  }
  if (!S_ISREG((*status)->st_mode)) {
    return fail(Code::usage, place + " is " + std::string(kind_of((*status)->st_mode)) + ", not a file");
  }
  if ((*status)->st_nlink > 1) {
    return fail(Code::usage,
                place + " has " + std::to_string((*status)->st_nlink) +
                    " names (hard links), and the others would keep the old content",
                "remove the other names: find them with find -samefile '" + place + "'");
  }
  return status;
}

bool lock_now(int descriptor) {
  return retry_interrupted([&] { return flock(descriptor, LOCK_EX | LOCK_NB); }) == 0;
}

Result<bool> is_ours(const Folder& folder, const std::string& name, const Fd& descriptor) {
  struct stat status{};
  if (fstat(descriptor.get(), &status) != 0) return draft_failure(errno, "look at", folder, name);
  return leads_to(folder, name, status);
}

// What cannot be opened, locked or removed stays, and its name counts as taken.
void remove_leftover(const Folder& folder, const std::string& name) {
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Fd left(retry_interrupted([&] { return openat(folder.descriptor.get(), name.c_str(), flags); }));
  if (left && lock_now(left.get()) && is_ours(folder, name, left).value_or(false)) {
    unlinkat(folder.descriptor.get(), name.c_str(), 0);
  }
}

// False: somebody who clears up had it first, and removes it.
Result<bool> lock_draft(const Folder& folder, const std::string& name, const Fd& made) {
  if (lock_now(made.get())) return is_ours(folder, name, made);
  if (errno == EWOULDBLOCK) return false;
  return draft_failure(errno, "lock", folder, name);
}

// A closed descriptor: the name is taken, or was taken away before it could be locked.
Result<Fd> make_draft(const Folder& folder, const std::string& name, mode_t mode) {
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Fd made(retry_interrupted([&] { return openat(folder.descriptor.get(), name.c_str(), flags, mode); }));
  if (!made && errno == EEXIST) return Fd();
  if (!made) return draft_failure(errno, "make", folder, name);
  const auto ours = lock_draft(folder, name, made);
  if (ours) return *ours ? std::move(made) : Fd();
  unlinkat(folder.descriptor.get(), name.c_str(), 0);
  return fail(ours.error());
}

}  // namespace

Result<void> check_replaceable(const Folder& folder, const std::string& name) {
  if (auto status = look_at_target(folder, name); !status) return fail(status.error());
  return {};
}

Result<FileDraft> FileDraft::begin(const Folder& folder, const std::string& target, const std::string& names,
                                   int most) {
  const auto there = look_at_target(folder, target);
  if (!there) return fail(there.error());
  const mode_t mode = *there ? 0600 : 0666;
  for (int number = 0; number < most; ++number) remove_leftover(folder, names + std::to_string(number));
  for (int race = 0; race < kRaces; ++race) {
    for (int number = 0; number < most; ++number) {
      std::string name = names + std::to_string(number);
      auto made = make_draft(folder, name, mode);
      if (!made) return fail(made.error());
      if (*made) return FileDraft(folder, target, std::move(name), std::move(*made));
    }
  }
  return fail(Code::limit_reached, std::to_string(most) + " others write " + shown(folder, target) + " at this moment",
              "see who has them open: fuser '" + shown(folder, names) + "'*");
}

FileDraft::FileDraft(FileDraft&& other) noexcept
    : folder_(other.folder_),
      target_(std::move(other.target_)),
      name_(std::exchange(other.name_, std::string())),
      descriptor_(std::move(other.descriptor_)),
      size_(other.size_),
      process_(other.process_) {}

FileDraft::~FileDraft() {
  if (!descriptor_ || !process_.same()) return;
  if (!name_.empty()) unlinkat(folder_->descriptor.get(), name_.c_str(), 0);
  // A forked child may still have the descriptor.
  flock(descriptor_.get(), LOCK_UN);
}

Result<void> FileDraft::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto offset = static_cast<off_t>(size_);
    const ssize_t put =
        retry_interrupted([&] { return pwrite(descriptor_.get(), bytes.data(), bytes.size(), offset); });
    if (put <= 0) return draft_failure(put == 0 ? EIO : errno, "write", *folder_, name_);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    size_ += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<void> FileDraft::sync() {
  if (retry_interrupted([&] { return fsync(descriptor_.get()); }) == 0) return {};
  return draft_failure(errno, "make durable", *folder_, name_);
}

Result<void> FileDraft::copy_owner(const struct stat& target) {
  struct stat mine{};
  if (fstat(descriptor_.get(), &mine) != 0) return draft_failure(errno, "look at", *folder_, name_);
  const bool same = mine.st_uid == target.st_uid && mine.st_gid == target.st_gid;
  if (!same && fchown(descriptor_.get(), target.st_uid, target.st_gid) != 0) {
    const int error = errno;
    if (error != EPERM) return draft_failure(error, "set the owner of", *folder_, name_);
    return fail(Code::not_permitted,
                shown(*folder_, target_) + " belongs to " + user_name_of(target.st_uid) + ", group " +
                    std::to_string(target.st_gid) + ", and we may not make files that do",
                "write as its owner");
  }
  // One that the folder gave it would let more people in than the mode of the target says.
  if (fremovexattr(descriptor_.get(), kAccessList) != 0 && errno != ENODATA && errno != ENOTSUP) {
    return draft_failure(errno, "take the access list from", *folder_, name_);
  }
  if (fchmod(descriptor_.get(), target.st_mode & kPermissions) == 0) return {};
  return draft_failure(errno, "set the mode of", *folder_, name_);
}

Result<void> FileDraft::copy_attribute(const std::string& from, const char* attribute) {
  std::string value(kMostAttributeBytes, '\0');
  const ssize_t size = lgetxattr(from.c_str(), attribute, value.data(), value.size());
  if (size < 0 && errno == ENODATA) return {};
  if (size >= 0 && fsetxattr(descriptor_.get(), attribute, value.data(), static_cast<std::size_t>(size), 0) == 0) {
    return {};
  }
  return system_failure(errno, "keep the attribute " + escape_controls(attribute) + " of", from);
}

Result<void> FileDraft::copy_attributes(const std::string& but) {
  const std::string from = folder_->path + "/" + target_;
  std::string names(kMostAttributeBytes, '\0');
  const ssize_t size = llistxattr(from.c_str(), names.data(), names.size());
  if (size < 0 && (errno == ENOTSUP || errno == ENOENT)) return {};
  if (size < 0) return system_failure(errno, "list the attributes of", from);
  for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
    const std::string attribute = names.c_str() + at;
    at += attribute.size() + 1;
    if (attribute == but || (attribute != kAccessList && !attribute.starts_with("user."))) continue;
    if (auto copied = copy_attribute(from, attribute.c_str()); !copied) return copied;
  }
  return {};
}

Result<void> FileDraft::dress(const std::string& mark, std::string_view value) {
  const auto target = look_at_target(*folder_, target_);
  if (!target) return fail(target.error());
  if (*target) {
    if (auto copied = copy_owner(**target); !copied) return copied;
    if (auto copied = copy_attributes(mark); !copied) return copied;
  }
  // Nothing depends on it, and not every file system has such.
  static_cast<void>(fsetxattr(descriptor_.get(), mark.c_str(), value.data(), value.size(), 0));
  return sync();
}

Result<void> FileDraft::put_in_place() {
  if (auto renamed = rename_over(*folder_, name_, target_); !renamed) return renamed;
  name_.clear();
  flock(descriptor_.get(), LOCK_UN);
  descriptor_.reset();
  return {};
}

}  // namespace tenure::os
