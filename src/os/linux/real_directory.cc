#include "os/linux/real_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/linux/directory_watch.h"
#include "os/linux/life_lock.h"
#include "os/linux/section_lock.h"
#include "os/linux/stable_content.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

bool name_is_free(const Folder& folder, const std::string& name) {
  struct stat status{};
  return fstatat(folder.descriptor.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

Result<void> write_temporary(const Folder& folder, const std::string& temporary, std::string_view bytes, bool durable) {
  auto made = write_new(folder, temporary, bytes, durable);
  if (!made) return fail(made.error());
  if (!*made) return fail(Code::input_output, shown(folder, temporary) + " appeared while it was made");
  return {};
}

}  // namespace

Result<std::unique_ptr<RealDirectory>> RealDirectory::open(const std::string& path, bool create, FolderChecks checks) {
  auto opened = os::open_folder(path, create, checks);
  if (!opened) return fail(opened.error());
  return std::make_unique<RealDirectory>(std::move(*opened));
}

Result<std::optional<env::FileContent>> RealDirectory::read(const std::string& name, std::size_t max_bytes) {
  for (int attempt = 0; attempt < limits::kReadAttempts; ++attempt) {
    auto file = open_present(folder_, name, O_RDONLY);
    if (!file) return fail(file.error());
    if (!*file) return std::nullopt;
    auto bytes = read_stable(folder_, name, **file, max_bytes);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) continue;
    return env::FileContent{std::move(**bytes), identity_of((*file)->status), modified_of((*file)->status)};
  }
  return fail(Code::input_output, shown(folder_, name) + " keeps changing while it is read");
}

Result<void> RealDirectory::replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                                    bool durable) {
  if (auto fit = refuse_odd(folder_, name); !fit) return fit;
  if (auto removed = remove_name(folder_, temporary); !removed) return fail(removed.error());
  auto done = write_temporary(folder_, temporary, bytes, durable);
  if (done) done = rename_over(folder_, temporary, name);
  if (!done) unlinkat(folder_.descriptor.get(), temporary.c_str(), 0);
  return done;
}

Result<void> RealDirectory::overwrite(const std::string& name, FileIdentity expected, std::string_view bytes,
                                      bool durable) {
  auto file = open_present(folder_, name, O_RDWR);
  if (!file) return fail(file.error());
  if (!*file) return fail(Code::damaged, shown(folder_, name) + " is not there any more");
  if (identity_of((*file)->status) != expected) {
    return fail(Code::damaged, "another file lies under " + shown(folder_, name) + " now");
  }
  return rewrite_in_place(folder_, name, **file, bytes, durable);
}

Result<bool> RealDirectory::remove(const std::string& name) {
  return remove_name(folder_, name);
}

Result<void> RealDirectory::move_aside(const std::string& from, const std::string& to) {
  if (auto checked = check_name(from); !checked) return checked;
  if (auto checked = check_name(to); !checked) return checked;
  const int at = folder_.descriptor.get();
  int moved = renameat2(at, from.c_str(), at, to.c_str(), RENAME_NOREPLACE);
  // Not every file system can promise that; the caller's section keeps others out between our two steps.
  if (moved != 0 && errno == EINVAL && name_is_free(folder_, to)) moved = renameat(at, from.c_str(), at, to.c_str());
  if (moved == 0) return {};
  const int error = errno;
  if (error == EEXIST || error == EINVAL) {
    return fail(Code::damaged, shown(folder_, from) + " cannot be moved aside: " + shown(folder_, to) + " is taken");
  }
  if (error == ENOENT) return fail(Code::damaged, shown(folder_, from) + " is not there any more");
  return system_failure(error, "move aside", folder_.path + "/" + from);
}

Result<void> RealDirectory::sync() {
  if (retry_interrupted([&] { return fsync(folder_.descriptor.get()); }) == 0) return {};
  return system_failure(errno, "make durable", folder_.path);
}

Result<std::vector<std::string>> RealDirectory::list(std::size_t max_names) {
  // A descriptor of its own: the place in a listing belongs to the open folder, and threads would share it.
  Fd own(retry_interrupted([&] { return openat(folder_.descriptor.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!own) return system_failure(errno, "list", folder_.path);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(own.get()), closedir);
  if (!listing) return system_failure(errno, "list", folder_.path);
  own.release();  // closedir has it now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(listing.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() >= max_names) {
      return fail(Code::limit_reached,
                  "the folder " + shown(folder_, "") + " holds more than " + std::to_string(max_names) + " names",
                  "remove what does not belong there");
    }
    names.push_back(std::move(name));
  }
  if (errno != 0) return system_failure(errno, "list", folder_.path);
  return names;
}

Result<std::unique_ptr<env::SectionLock>> RealDirectory::lock(const std::string& name, Duration at_most,
                                                              const Stop* stop) {
  return lock_section(folder_, name, at_most, stop);
}

Result<std::unique_ptr<env::LifeLock>> RealDirectory::take_life(const std::string& name, const std::string& temporary,
                                                                bool fresh, bool keep_descriptor) {
  return take_life_lock(folder_, name, temporary, fresh, keep_descriptor);
}

env::LifeProbe RealDirectory::probe_life(const std::string& name, std::optional<FileIdentity> expected) {
  return probe_life_lock(folder_, name, expected);
}

Result<std::unique_ptr<env::Watch>> RealDirectory::watch() {
  return watch_folder(folder_);
}

Result<bool> RealDirectory::in_place() {
  struct stat by_path{};
  struct stat by_descriptor{};
  if (fstat(folder_.descriptor.get(), &by_descriptor) != 0) return system_failure(errno, "look at", folder_.path);
  if (stat(folder_.path.c_str(), &by_path) == 0) return identity_of(by_path) == identity_of(by_descriptor);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return system_failure(errno, "look at", folder_.path);
}

}  // namespace tenure::os
