#include "os/linux/open_folder.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/standpoint.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// Absolute, and without the trailing slashes that would make the kernel follow a link in the last place.
Result<std::string> whole_path(const std::string& path) {
  if (path.empty() || path.size() >= limits::kPathBytes || path.find('\0') != std::string::npos) {
    return fail(Code::unreachable, "not a path of a folder: \"" + escape_controls(cut_text(path, 128)) + "\"");
  }
  std::string whole = path;
  if (whole.front() != '/') {
    std::string here(limits::kPathBytes, '\0');
    if (getcwd(here.data(), here.size()) == nullptr)
      return system_failure(errno, "find the working directory for", path);
    whole = std::string(here.c_str()) + "/" + path;
  }
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  return whole;
}

// The new name is durable when the folder that it stands in is.
Result<void> sync_parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
  const Fd folder(retry_interrupted([&] { return open(parent.c_str(), kFolderFlags); }));
  // A parent that we may not read cannot be synced by us; making a name in it was allowed all the same.
  if (!folder && errno == EACCES) return {};
  if (folder && retry_interrupted([&] { return fsync(folder.get()); }) == 0) return {};
  return system_failure(errno, "make durable", parent);
}

Result<void> make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return sync_parent(path);
  const int error = errno;
  struct stat status{};
  // Some systems say EACCES or EROFS even where there is one.
  if (stat(path.c_str(), &status) == 0) return {};
  return system_failure(error, "make the folder", path);
}

Result<void> make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (auto made = make_folder(path.substr(0, slash)); !made) return made;
  }
  return make_folder(path);
}

std::unexpected<Error> unsafe(const std::string& path, const std::string& why, const std::string& remedy) {
  return fail(Code::unsafe_folder, "the folder " + escape_controls(path) + " " + why, remedy);
}

std::unexpected<Error> explain_open(int error, const std::string& path) {
  const std::string name = escape_controls(path);
  if (error == ENOENT) {
    return fail(Code::unreachable, "there is no folder " + name, "make it: mkdir -m 700 -p '" + name + "'");
  }
  if (error == ENOTDIR) return fail(Code::unreachable, name + " is not a folder");
  auto failure = system_failure(error, "open the folder", path);
  if (error == EACCES) failure.error().remedy = "see who owns it and the folders above it: namei -l '" + name + "'";
  return failure;
}

// A link in the last place is followed only if nobody else could turn it: it is ours, or root's.
Result<Fd> open_through_link(const std::string& path, bool observe_only) {
  struct stat link{};
  if (lstat(path.c_str(), &link) != 0) return explain_open(errno, path);
  if (!S_ISLNK(link.st_mode)) return explain_open(ENOTDIR, path);
  if (!observe_only && link.st_uid != geteuid() && link.st_uid != 0) {
    return unsafe(path, "is reached by a link of another user (" + user_name_of(link.st_uid) + ")",
                  "name the folder itself");
  }
  Fd folder(retry_interrupted([&] { return open(path.c_str(), kFolderFlags); }));
  if (!folder) return explain_open(errno, path);
  return folder;
}

Result<Fd> open_checked(const std::string& path, bool observe_only) {
  Fd folder(retry_interrupted([&] { return open(path.c_str(), kFolderFlags | O_NOFOLLOW); }));
  if (folder) return folder;
  if (errno == ELOOP || errno == ENOTDIR) return open_through_link(path, observe_only);
  return explain_open(errno, path);
}

std::unexpected<Error> of_another_user(const std::string& path, uid_t user) {
  const std::string owner = user_name_of(user);
  return unsafe(path, "belongs to " + owner + ", and we are " + user_name_of(geteuid()),
                "run as " + owner + ", or choose another folder");
}

// Who may write in it, beside its owner.
Result<void> check_writers(const std::string& path, const struct stat& status, FolderChecks checks) {
  const std::string name = escape_controls(path);
  if ((status.st_mode & S_IWOTH) != 0) return unsafe(path, "can be written by everybody", "chmod o-w '" + name + "'");
  if ((status.st_mode & S_IWGRP) != 0 && !checks.group_ok && !checks.group_if_open) {
    return unsafe(path, "can be written by its group", "chmod g-w '" + name + "'");
  }
  return {};
}

Result<void> check_owner(const std::string& path, const struct stat& status, FolderChecks checks) {
  const bool fits = status.st_uid == geteuid() || (checks.root_ok && status.st_uid == 0);
  if (!checks.any_owner && !fits) return of_another_user(path, status.st_uid);
  return check_writers(path, status, checks);
}

Result<FileSystem> check_file_system(const std::string& path, int descriptor) {
  struct statfs system{};
  if (retry_interrupted([&] { return fstatfs(descriptor, &system); }) != 0) {
    return system_failure(errno, "ask for the file system of", path);
  }
  FileSystem found = file_system_of(static_cast<std::uint32_t>(system.f_type));
  if (found.is_suitable) return found;
  return fail(Code::unsuitable_folder, escape_controls(path) + " lies on " + found.name + ", which keeps no files",
              "choose a folder on a disk");
}

// No descriptor: no such name.
Result<Fd> open_name(const Folder& parent, const std::string& name) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  const int at = parent.descriptor.get();
  Fd folder(retry_interrupted([&] { return openat(at, name.c_str(), kFolderFlags | O_NOFOLLOW); }));
  const int error = errno;
  if (folder || error == ENOENT) return folder;
  struct stat status{};
  if (fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode)) {
    return odd(parent, name, "is " + std::string(kind_of(status.st_mode)) + ", not a folder");
  }
  return explain_open(error, parent.path + "/" + name);
}

// What its parent demands of a new folder beyond mode 0700, which it has.
Result<void> dress_folder(const Folder& parent, const std::string& name) {
  const bool for_group = parent.file_mode != 0600;
  const bool for_owner = geteuid() == 0 && parent.owner != 0;
  if (!for_group && !for_owner) return {};
  const auto folder = open_name(parent, name);
  if (!folder) return fail(folder.error());
  const std::string path = parent.path + "/" + name;
  struct stat status{};
  if (fstat(folder->get(), &status) != 0) return system_failure(errno, "look at", path);
  // Nobody but us can have been at work in it; but the name may lead elsewhere already.
  if (status.st_uid != geteuid())
    return fail(Code::input_output, escape_controls(path) + " was replaced while it was made");
  // Its group bit for new files, where the parent has one, stays.
  if (for_group && fchmod(folder->get(), (status.st_mode & S_ISGID) | 0770) != 0) {
    return system_failure(errno, "set the mode of", path);
  }
  if (for_owner && fchown(folder->get(), parent.owner, parent.group) != 0) {
    return system_failure(errno, "set the owner of", path);
  }
  return {};
}

}  // namespace

Result<OpenedFolder> open_folder(const std::string& path, bool create, FolderChecks checks) {
  auto whole = whole_path(path);
  if (!whole) return fail(whole.error());
  auto descriptor = open_checked(*whole, checks.observe_only);
  if (!descriptor && descriptor.error().code == Code::unreachable && create) {
    if (auto made = make_folders(*whole); !made) return fail(made.error());
    descriptor = open_checked(*whole, checks.observe_only);
  }
  if (!descriptor) return fail(descriptor.error());
  auto file_system = check_file_system(*whole, descriptor->get());
  if (!file_system) return fail(file_system.error());
  struct stat status{};
  if (fstat(descriptor->get(), &status) != 0) return system_failure(errno, "look at", *whole);
  if (!checks.observe_only) {
    if (auto checked = check_owner(*whole, status, checks); !checked) return fail(checked.error());
  }
  const bool open_to_group = checks.group_if_open && (status.st_mode & S_IWGRP) != 0;
  const mode_t file_mode = checks.group_ok || open_to_group ? 0660 : 0600;
  Folder folder{std::move(*descriptor),
                std::move(*whole),
                status.st_uid,
                status.st_gid,
                checks.any_owner || open_to_group,
                file_mode,
                checks.most_links};
  return OpenedFolder{std::move(folder), std::move(*file_system), checks};
}

Result<std::optional<OpenedFolder>> open_folder_in(const OpenedFolder& parent, const std::string& name) {
  const Folder& outer = parent.folder;
  auto descriptor = open_name(outer, name);
  if (!descriptor) return fail(descriptor.error());
  if (!*descriptor) return std::nullopt;
  const std::string path = outer.path + "/" + name;
  struct stat status{};
  if (fstat(descriptor->get(), &status) != 0) return system_failure(errno, "look at", path);
  if (!parent.checks.observe_only) {
    if (!owner_fits(outer, status.st_uid)) return of_another_user(path, status.st_uid);
    if (auto checked = check_writers(path, status, parent.checks); !checked) return fail(checked.error());
  }
  auto file_system = check_file_system(path, descriptor->get());
  if (!file_system) return fail(file_system.error());
  Folder folder{std::move(*descriptor), path, outer.owner, outer.group, outer.any_owner, outer.file_mode,
                outer.most_links};
  return OpenedFolder{std::move(folder), std::move(*file_system), parent.checks};
}

Result<bool> make_folder_in(const Folder& parent, const std::string& name) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  const int at = parent.descriptor.get();
  if (retry_interrupted([&] { return mkdirat(at, name.c_str(), 0700); }) != 0) {
    if (errno == EEXIST) return false;
    return system_failure(errno, "make the folder", parent.path + "/" + name);
  }
  if (auto dressed = dress_folder(parent, name); !dressed) {
    unlinkat(at, name.c_str(), AT_REMOVEDIR);
    return fail(dressed.error());
  }
  return true;
}

}  // namespace tenure::os
