// Folders in a folder, and what moves and links between them: the second half of RealDirectory.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <utility>

#include "os/linux/folder_reach.h"
#include "os/linux/real_directory.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using env::EntryKind;
using env::Moved;

EntryKind entry_kind(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  return S_ISDIR(mode) ? EntryKind::folder : EntryKind::other;
}

std::unexpected<Error> name_failure(int error, std::string_view doing, const Folder& folder, const std::string& name) {
  return system_failure(error, doing, folder.path + "/" + name);
}

// What is under the name, itself; nullopt: nothing.
Result<std::optional<struct stat>> status_under(const Folder& folder, const std::string& name) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  struct stat status{};
  const int at = folder.descriptor.get();
  if (retry_interrupted([&] { return fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW); }) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  return name_failure(errno, "look at", folder, name);
}

// One name in an open folder.
struct Place {
  const Folder& folder;
  const std::string& name;
  int at() const { return folder.descriptor.get(); }
  const char* text() const { return name.c_str(); }
};

int link_names(const Place& from, const Place& to) {
  return retry_interrupted([&] { return linkat(from.at(), from.text(), to.at(), to.text(), 0); });
}

// An error of a move by which something was lost: either the former name, or the folder of the new one.
Result<Moved> missing_or(int error, const Place& from) {
  if (error != ENOENT) return name_failure(error, "move", from.folder, from.name);
  const auto left = status_under(from.folder, from.name);
  if (!left) return fail(left.error());
  if (!*left) return Moved::missing;
  return name_failure(error, "move", from.folder, from.name);
}

// A file gets the new name besides, which replaces nothing, and then loses the former one. Of two that move it to
// two places the one who takes the former name away has moved it; the other takes its new name back.
Result<Moved> move_by_link(const Place& from, const Place& to) {
  if (link_names(from, to) != 0) {
    if (errno == EEXIST) return Moved::taken;
    return missing_or(errno, from);
  }
  if (retry_interrupted([&] { return unlinkat(from.at(), from.text(), 0); }) == 0) return Moved::moved;
  const int error = errno;
  unlinkat(to.at(), to.text(), 0);
  return missing_or(error, from);
}

// A folder is renamed, which fails on anything but an empty folder; one that is there already we leave alone.
Result<Moved> move_by_rename(const Place& from, const Place& to) {
  const auto there = status_under(to.folder, to.name);
  if (!there) return fail(there.error());
  if (*there) return Moved::taken;
  if (retry_interrupted([&] { return renameat(from.at(), from.text(), to.at(), to.text()); }) == 0) return Moved::moved;
  if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) return Moved::taken;
  return missing_or(errno, from);
}

// For file systems that know no rename that replaces nothing.
Result<Moved> move_in_steps(const Place& from, const Place& to) {
  const auto status = status_under(from.folder, from.name);
  if (!status) return fail(status.error());
  if (!*status) return Moved::missing;
  return S_ISDIR((*status)->st_mode) ? move_by_rename(from, to) : move_by_link(from, to);
}

}  // namespace

Result<env::Entry> RealDirectory::look(const std::string& name) {
  const auto status = status_under(folder_, name);
  if (!status) return fail(status.error());
  if (!*status) return env::Entry{};
  return env::Entry{entry_kind((*status)->st_mode), identity_of(**status), modified_of(**status)};
}

Result<std::unique_ptr<env::Directory>> RealDirectory::open_folder(const std::string& name) {
  auto opened = open_folder_in(opened_, name);
  if (!opened) return fail(opened.error());
  if (!*opened) return nullptr;
  return std::make_unique<RealDirectory>(std::move(**opened));
}

Result<FileIdentity> RealDirectory::identity() {
  struct stat status{};
  if (retry_interrupted([&] { return fstat(folder_.descriptor.get(), &status); }) == 0) return identity_of(status);
  return system_failure(errno, "look at", folder_.path);
}

Result<bool> RealDirectory::make_folder(const std::string& name) {
  return make_folder_in(folder_, name);
}

Result<bool> RealDirectory::remove_folder(const std::string& name) {
  if (auto checked = check_name(name); !checked) return fail(checked.error());
  const int at = folder_.descriptor.get();
  if (retry_interrupted([&] { return unlinkat(at, name.c_str(), AT_REMOVEDIR); }) == 0) return true;
  switch (errno) {
    case ENOENT:
      return false;
    case ENOTEMPTY:
    case EEXIST:
      return odd(folder_, name, "is not empty");
    case ENOTDIR:
      return odd(folder_, name, "is not a folder");
    default:
      return name_failure(errno, "remove the folder", folder_, name);
  }
}

Result<bool> RealDirectory::create(const std::string& name, std::string_view bytes, bool durable) {
  return write_new(folder_, name, bytes, durable);
}

Result<bool> RealDirectory::link(const std::string& from, env::Directory& into, const std::string& to) {
  if (auto checked = check_name(to); !checked) return fail(checked.error());
  const auto reached = reach(into);
  if (!reached) return fail(reached.error());
  const auto status = status_under(folder_, from);
  if (!status) return fail(status.error());
  const std::string gone = shown(folder_, from) + " is not there any more";
  if (!*status) return fail(Code::damaged, gone);
  if (!S_ISREG((*status)->st_mode)) {
    return odd(folder_, from, "is " + std::string(kind_of((*status)->st_mode)) + ", not a file");
  }
  if (link_names({folder_, from}, {reached->folder(), to}) == 0) return true;
  const int error = errno;
  if (error == EEXIST) return false;
  // Else it is the other folder that is gone.
  const auto left = status_under(folder_, from);
  if (error == ENOENT && left && !*left) return fail(Code::damaged, gone);
  return name_failure(error, "give a name to " + shown(folder_, from) + " at", reached->folder(), to);
}

Result<Moved> RealDirectory::move(const std::string& from, env::Directory& into, const std::string& to) {
  if (auto checked = check_name(from); !checked) return fail(checked.error());
  if (auto checked = check_name(to); !checked) return fail(checked.error());
  const auto reached = reach(into);
  if (!reached) return fail(reached.error());
  const Place source{folder_, from};
  const Place target{reached->folder(), to};
  const int done = retry_interrupted(
      [&] { return renameat2(source.at(), source.text(), target.at(), target.text(), RENAME_NOREPLACE); });
  if (done == 0) return Moved::moved;
  if (errno == EEXIST || errno == ENOTEMPTY) return Moved::taken;
  if (errno == EINVAL || errno == EOPNOTSUPP) return move_in_steps(source, target);
  return missing_or(errno, source);
}

}  // namespace tenure::os
