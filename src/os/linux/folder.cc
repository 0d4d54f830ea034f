#include "os/linux/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

std::unexpected<Error> failed(int error, std::string_view doing, const Folder& folder, const std::string& name) {
  return system_failure(error, doing, folder.path + "/" + name);
}

std::string foreign(uid_t owner) {
  return "belongs to another user (uid " + std::to_string(owner) + ")";
}

// Why an open failed, where the kind of the thing says more than the system's word.
std::unexpected<Error> explain_open(int error, const Folder& folder, const std::string& name) {
  struct stat status{};
  if (fstatat(folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISREG(status.st_mode)) {
      return odd(folder, name, "is " + std::string(kind_of(status.st_mode)) + ", not a file");
    }
    if (error == EACCES && !owner_fits(folder, status.st_uid)) return odd(folder, name, foreign(status.st_uid));
  }
  return failed(error, "open", folder, name);
}

Result<void> check_opened(const Folder& folder, const std::string& name, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) {
    return odd(folder, name, "is " + std::string(kind_of(status.st_mode)) + ", not a file");
  }
  if (!owner_fits(folder, status.st_uid)) return odd(folder, name, foreign(status.st_uid));
  return {};
}

Result<std::optional<OpenFile>> open_once(const Folder& folder, const std::string& name, int access) {
  OpenFile file;
  const int flags = access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file.descriptor = Fd(retry_interrupted([&] { return openat(folder.descriptor.get(), name.c_str(), flags); }));
  if (!file.descriptor) {
    const int error = errno;
    if (error == ENOENT) return std::nullopt;
    return explain_open(error, folder, name);
  }
  if (fstat(file.descriptor.get(), &file.status) != 0) return failed(errno, "look at", folder, name);
  if (auto checked = check_opened(folder, name, file.status); !checked) return fail(checked.error());
  return file;
}

// What a file just made is like, when it is as it should be.
Result<OpenFile> finish_made(const Folder& folder, const std::string& name, Fd descriptor) {
  OpenFile file{std::move(descriptor), {}};
  if (auto dressed = dress_file(folder, file.descriptor.get(), name); !dressed) return fail(dressed.error());
  if (fstat(file.descriptor.get(), &file.status) != 0) return failed(errno, "look at", folder, name);
  return file;
}

Result<void> fill_new(const Folder& folder, const std::string& name, OpenFile file, std::string_view bytes,
                      bool durable) {
  const int descriptor = file.descriptor.get();
  if (auto written = write_whole(folder, name, descriptor, bytes); !written) return written;
  if (durable) {
    if (auto synced = sync_data(folder, name, descriptor); !synced) return synced;
  }
  // Some file systems tell only at the close that there was no room.
  if (close(file.descriptor.release()) != 0 && errno != EINTR) return failed(errno, "write", folder, name);
  return {};
}

}  // namespace

bool owner_fits(const Folder& folder, uid_t owner) {
  return folder.any_owner || owner == folder.owner || owner == geteuid();
}

std::unexpected<Error> odd(const Folder& folder, const std::string& name, const std::string& what) {
  return fail(Code::damaged, shown(folder, name) + " " + what,
              "look at it, then move it away: mv '" + shown(folder, name) + "' '" + shown(folder, name) + ".aside'");
}

Result<void> check_name(const std::string& name) {
  const bool plain = !name.empty() && name != "." && name != ".." && name.size() <= limits::kFileNameBytes &&
                     name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  if (!plain) return fail(Code::internal, "not the name of a file in a folder: " + escape_controls(cut_text(name, 64)));
  return {};
}

FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

WallTime modified_of(const struct stat& status) {
  return {std::chrono::seconds{status.st_mtim.tv_sec} + Duration{status.st_mtim.tv_nsec}};
}

std::string shown(const Folder& folder, std::string_view name) {
  return escape_controls(folder.path + "/" + std::string(name));
}

std::string_view kind_of(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a link";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "of an unknown kind";
}

Result<std::optional<OpenFile>> open_present(const Folder& folder, const std::string& name, int access) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  nlink_t links = 0;
  int too_many = 0;
  for (int attempt = 0; attempt < limits::kReadAttempts && too_many < 2; ++attempt) {
    auto file = open_once(folder, name, access);
    if (!file || !*file) return file;
    links = (*file)->status.st_nlink;
    if (links >= 1 && links <= folder.most_links) return file;
    // None: it was replaced between the open and the look. One too many: a name may be on its way to another.
    if (links > folder.most_links) ++too_many;
  }
  return odd(folder, name,
             links == 0 ? "is replaced faster than it can be opened"
                        : "has " + std::to_string(links) + " names, and may be changed under another");
}

Result<std::optional<OpenFile>> make_file(const Folder& folder, const std::string& name) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Fd made(retry_interrupted([&] { return openat(folder.descriptor.get(), name.c_str(), flags, folder.file_mode); }));
  if (!made) {
    if (errno == EEXIST) return std::nullopt;
    return failed(errno, "make", folder, name);
  }
  auto file = finish_made(folder, name, std::move(made));
  if (!file) unlinkat(folder.descriptor.get(), name.c_str(), 0);
  return file;
}

Result<void> dress_file(const Folder& folder, int descriptor, const std::string& name) {
  // Only a shared folder needs bits that a umask takes away.
  if (folder.file_mode != 0600 && fchmod(descriptor, folder.file_mode) != 0) {
    return failed(errno, "set the mode of", folder, name);
  }
  // Root at work in another user's folder leaves files that their owner can go on with.
  if (geteuid() == 0 && folder.owner != 0 && fchown(descriptor, folder.owner, folder.group) != 0) {
    return failed(errno, "set the owner of", folder, name);
  }
  return {};
}

Result<void> refuse_odd(const Folder& folder, const std::string& name) {
  if (auto checked = check_name(name); !checked) return checked;
  struct stat status{};
  if (fstatat(folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return failed(errno, "look at", folder, name);
  }
  if (S_ISREG(status.st_mode)) return {};
  return odd(folder, name, "is " + std::string(kind_of(status.st_mode)) + ", not a file");
}

Result<bool> leads_to(const Folder& folder, const std::string& name, const struct stat& status) {
  struct stat now{};
  if (fstatat(folder.descriptor.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0) {
    return identity_of(now) == identity_of(status);
  }
  if (errno == ENOENT) return false;
  return failed(errno, "look at", folder, name);
}

Result<bool> remove_name(const Folder& folder, const std::string& name) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  if (unlinkat(folder.descriptor.get(), name.c_str(), 0) == 0) return true;
  if (errno == ENOENT) return false;
  if (errno == EISDIR) return odd(folder, name, "is a directory, not a file");
  return failed(errno, "remove", folder, name);
}

Result<void> rename_over(const Folder& folder, const std::string& from, const std::string& to) {
  const int at = folder.descriptor.get();
  if (renameat(at, from.c_str(), at, to.c_str()) == 0) return {};
  return failed(errno, "put a new file under the name", folder, to);
}

Result<void> write_whole(const Folder& folder, const std::string& name, int descriptor, std::string_view bytes) {
  off_t offset = 0;
  while (!bytes.empty()) {
    const ssize_t put = retry_interrupted([&] { return pwrite(descriptor, bytes.data(), bytes.size(), offset); });
    if (put <= 0) return failed(put == 0 ? EIO : errno, "write", folder, name);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += put;
  }
  return {};
}

Result<bool> write_new(const Folder& folder, const std::string& name, std::string_view bytes, bool durable) {
  auto made = make_file(folder, name);
  if (!made) return fail(made.error());
  if (!*made) return false;
  if (auto filled = fill_new(folder, name, std::move(**made), bytes, durable); !filled) {
    unlinkat(folder.descriptor.get(), name.c_str(), 0);
    return fail(filled.error());
  }
  return true;
}

Result<void> sync_data(const Folder& folder, const std::string& name, int descriptor) {
  if (retry_interrupted([&] { return fdatasync(descriptor); }) == 0) return {};
  return failed(errno, "make durable", folder, name);
}

}  // namespace tenure::os
