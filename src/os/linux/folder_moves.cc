#include "os/linux/folder_moves.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr char kStopperText[] =
    "This is no folder, so that nobody can open it: tenure is moving or purging the space, or was interrupted while it "
    "did. See tenure space ls.\n";
constexpr int kRounds = 64;  // of what another process can undo under our hands

Fd open_folder_at(int parent, const std::string& name) {
  return Fd(
      retry_interrupted([&] { return openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Calls `each` with every name until it says false. False: the folder could not be read; errno says why.
bool each_of(DIR* listing, const std::function<bool(const char*)>& each) {
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(listing);
    if (entry == nullptr) return errno == 0;
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !each(entry->d_name)) return true;
  }
}

bool each_name(int folder, const std::function<bool(const char*)>& each) {
  const int copy = retry_interrupted([&] { return openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (copy < 0) return false;
  DIR* opened = fdopendir(copy);
  if (opened == nullptr) {
    ::close(copy);
    return false;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opened, &closedir);
  return each_of(opened, each);
}

Result<void> sync_folder(const std::string& path) {
  const Fd folder(retry_interrupted([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!folder && errno == EACCES) return {};  // making names in it was allowed; reading it is not
  if (folder && retry_interrupted([&] { return fsync(folder.get()); }) == 0) return {};
  return system_failure(errno, "make durable", path);
}

}  // namespace

Result<FolderUse> folder_use(const std::string& path) {
  const Fd folder = open_folder_at(AT_FDCWD, path);
  if (!folder) return system_failure(errno, "open the folder", path);
  FolderUse use;
  const bool read = each_name(folder.get(), [&](const char* name) {
    struct stat status{};
    if (fstatat(folder.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      ++use.files;
      use.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    return use.files < limits::kNamesInFolder;
  });
  if (!read) return system_failure(errno, "list", path);
  return use;
}

Result<std::vector<std::string>> names_in(const std::string& path) {
  std::vector<std::string> names;
  DIR* opened = opendir(path.c_str());
  if (opened == nullptr && errno == ENOENT) return names;
  if (opened == nullptr) return system_failure(errno, "open the folder", path);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opened, &closedir);
  const bool read = each_of(opened, [&](const char* name) {
    names.emplace_back(name);
    return names.size() < limits::kNamesInFolder;
  });
  if (!read) return system_failure(errno, "list", path);
  return names;
}

std::string Withdrawn::private_name(const std::string& name) {
  return "." + name + ".withdrawn";
}

bool Withdrawn::left_behind(const std::string& parent, const std::string& name) {
  struct stat status{};
  if (lstat((parent + "/" + private_name(name)).c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return true;
  return lstat((parent + "/" + name).c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Withdrawn::Withdrawn(Withdrawn&& other) noexcept
    : parent_path_(std::move(other.parent_path_)),
      name_(std::move(other.name_)),
      parent_(std::move(other.parent_)),
      stopper_(std::move(other.stopper_)),
      resumed_(other.resumed_),
      gone_(other.gone_),
      settled_(std::exchange(other.settled_, true)) {}

Withdrawn::~Withdrawn() {
  if (!settled_ && stopper_ && !gone_) (void)put_back();
}

Withdrawn::Kind Withdrawn::kind_of_name(const std::string& name) const {
  struct stat status{};
  if (fstatat(parent_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Kind::none : Kind::other;
  }
  if (S_ISDIR(status.st_mode)) return Kind::folder;
  if (!S_ISREG(status.st_mode)) return Kind::other;
  // A file that somebody else put there is not ours to remove. An empty one is a stopper that was just being made.
  const bool fits = status.st_size == 0 || status.st_size == static_cast<off_t>(sizeof kStopperText - 1);
  return fits && status.st_uid == geteuid() ? Kind::stopper : Kind::other;
}

Result<Withdrawn> Withdrawn::take(const std::string& parent, const std::string& name) {
  Fd folder(retry_interrupted([&] { return open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!folder && errno == ENOENT) return fail(Code::unreachable, "there is no folder " + escape_controls(parent));
  if (!folder) return system_failure(errno, "open the folder", parent);
  Withdrawn withdrawn(parent, name, std::move(folder));
  for (int round = 0; round < kRounds; ++round) {
    const auto taken = withdrawn.try_take();
    if (!taken) {
      withdrawn.settled_ = true;  // nothing was exchanged
      return fail(taken.error());
    }
    if (*taken) return withdrawn;
  }
  withdrawn.settled_ = true;
  return fail(Code::section_busy, "others move " + escape_controls(parent) + " at the same time", "try again");
}

// False: the names changed while we looked; look again.
Result<bool> Withdrawn::try_take() {
  const std::string hidden = private_name(name_);
  const std::string place = escape_controls(parent_path_ + "/" + name_);
  const Kind at_name = kind_of_name(name_);
  const Kind at_hidden = kind_of_name(hidden);
  if (at_name == Kind::none && at_hidden == Kind::none) {
    return fail(Code::unreachable, "there is no folder " + place);
  }
  if (at_name == Kind::other || at_hidden == Kind::other) {
    return fail(Code::damaged, place + " or " + hidden + " beside it is neither a folder nor a file that tenure made",
                "look at it and move it away by hand");
  }
  if (at_name == Kind::folder && at_hidden == Kind::folder) {
    return fail(Code::damaged,
                "there are both " + place + " and " + hidden + " beside it, left by an interrupted purge",
                "look into the latter, and remove it if nothing in it is needed");
  }
  // The stopper lies where the folder does not.
  const bool in_use = at_name == Kind::folder;
  const bool make = (in_use ? at_hidden : at_name) == Kind::none;
  const auto locked = lock_stopper(in_use ? hidden : name_, make);
  if (!locked || !*locked) return locked;
  // Only who has the lock changes names, so this second look stays true.
  if (kind_of_name(name_) != (in_use ? Kind::folder : Kind::stopper)) return false;
  resumed_ = !in_use;
  gone_ = !in_use && at_hidden != Kind::folder;
  if (!in_use && kind_of_name(hidden) != at_hidden) return false;
  if (!in_use) return true;
  auto exchanged = exchange(name_);
  if (exchanged) return true;
  unlinkat(parent_.get(), hidden.c_str(), 0);
  return fail(exchanged.error());
}

// False: it went away or was replaced meanwhile.
Result<bool> Withdrawn::lock_stopper(const std::string& name, bool make) {
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0);
  stopper_.reset(retry_interrupted([&] { return openat(parent_.get(), name.c_str(), flags, 0600); }));
  if (!stopper_ && (errno == EEXIST || errno == ENOENT)) return false;
  if (!stopper_) return system_failure(errno, "write into", parent_path_);
  if (retry_interrupted([&] { return flock(stopper_.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return system_failure(errno, "lock", parent_path_ + "/" + name);
    return fail(Code::section_busy, "another process moves or purges " + escape_controls(parent_path_) + " right now",
                "wait until it is done");
  }
  struct stat locked{};
  struct stat named{};
  if (fstat(stopper_.get(), &locked) != 0) return system_failure(errno, "look at", parent_path_ + "/" + name);
  if (fstatat(parent_.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (locked.st_ino != named.st_ino || locked.st_dev != named.st_dev) return false;
  const auto written =
      retry_interrupted([&] { return pwrite(stopper_.get(), kStopperText, sizeof kStopperText - 1, 0); });
  if (written == static_cast<ssize_t>(sizeof kStopperText - 1)) return true;
  const int error = written < 0 ? errno : ENOSPC;
  // Its words are for people; an empty stopper stops as well.
  if (ftruncate(stopper_.get(), 0) == 0) return true;
  return system_failure(error, "write into", parent_path_);
}

Result<void> Withdrawn::exchange(const std::string& name_of_folder) {
  const std::string hidden = private_name(name_of_folder);
  const int parent = parent_.get();
  if (renameat2(parent, name_of_folder.c_str(), parent, hidden.c_str(), RENAME_EXCHANGE) == 0) {
    if (retry_interrupted([&] { return fsync(parent); }) != 0)
      return system_failure(errno, "make durable", parent_path_);
    return {};
  }
  if (errno != EINVAL && errno != ENOSYS && errno != EXDEV && errno != EOPNOTSUPP) {
    return system_failure(errno, "rename in", parent_path_);
  }
  return fail(Code::unsupported,
              "the file system under " + escape_controls(parent_path_) +
                  " cannot exchange two names, so claims made at the same time cannot be kept out",
              "end everybody who uses the space, then use mv or rm");
}

Result<void> Withdrawn::lift_stopper(const std::string& name) {
  if (unlinkat(parent_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return system_failure(errno, "remove " + name + " from", parent_path_);
  }
  if (retry_interrupted([&] { return fsync(parent_.get()); }) != 0)
    return system_failure(errno, "make durable", parent_path_);
  stopper_.reset();
  settled_ = true;
  return {};
}

Result<void> Withdrawn::put_back() {
  if (gone_) return lift_stopper(name_);
  auto exchanged = exchange(name_);
  if (!exchanged) return exchanged;
  settled_ = true;
  return lift_stopper(private_name(name_));
}

Result<Withdrawn::Removal> Withdrawn::remove(const std::function<bool(std::string_view)>& ours) {
  Removal removal;
  if (!gone_) {
    auto emptied = empty(ours);
    if (!emptied) return emptied;
    removal = std::move(*emptied);
  }
  auto done = gone_ ? lift_stopper(name_) : put_back();
  if (!done) return fail(done.error());
  return removal;
}

Result<Withdrawn::Removal> Withdrawn::empty(const std::function<bool(std::string_view)>& ours) {
  const std::string hidden = private_name(name_);
  const Fd folder = open_folder_at(parent_.get(), hidden);
  if (!folder) return system_failure(errno, "open the folder", path());
  settled_ = true;  // half of it must not come back by itself
  Removal removal;
  for (int round = 0; round < kRounds; ++round) {
    removal.left.clear();
    const std::size_t before = removal.removed;
    const bool read = each_name(folder.get(), [&](const char* name) {
      const bool gone = ours(name) && (unlinkat(folder.get(), name, 0) == 0 || errno == ENOENT ||
                                       unlinkat(folder.get(), name, AT_REMOVEDIR) == 0);
      if (gone) {
        ++removal.removed;
      } else {
        removal.left.emplace_back(name);
      }
      return true;
    });
    if (!read) return system_failure(errno, "list", path());
    if (!removal.left.empty() && removal.removed != before) continue;  // a listing may pass over what changes under it
    if (!removal.left.empty()) return removal;
    if (unlinkat(parent_.get(), hidden.c_str(), AT_REMOVEDIR) == 0) {
      gone_ = true;
      return removal;
    }
    // Somebody who still had it open wrote a name between the two.
    if (errno != ENOTEMPTY && errno != EEXIST) return system_failure(errno, "remove", path());
  }
  return fail(Code::section_busy, "somebody goes on writing into " + escape_controls(path()),
              "end it, then purge once more");
}

Result<void> move_folder(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    if (auto synced = sync_folder(parent_of(to)); !synced) return synced;
    return sync_folder(parent_of(from));
  }
  const std::string shown_to = escape_controls(to);
  switch (errno) {
    case EEXIST:
      return fail(Code::not_permitted, "there is something at " + shown_to + " already", "choose a path that is free");
    case ENOENT:
    case ENOTDIR:
      return fail(Code::unreachable, "there is no folder " + escape_controls(parent_of(to)) + " to move it into",
                  "make it: mkdir -m 700 -p '" + escape_controls(parent_of(to)) + "'");
    case EXDEV:
      return fail(Code::unsupported, shown_to + " lies on another file system, and locks do not move with a copy",
                  "end everybody who uses it, cp -a '" + escape_controls(from) + "' '" + shown_to +
                      "', then purge the old one");
    case EINVAL:
      return fail(Code::unsupported,
                  "the file system cannot move it to " + shown_to + " without the danger of replacing something",
                  "end everybody who uses it, then use mv");
    default:
      return system_failure(errno, "move to " + shown_to + " the folder", from);
  }
}

Result<bool> remove_empty_folder(const std::string& path) {
  if (rmdir(path.c_str()) == 0) {
    if (auto synced = sync_folder(parent_of(path)); !synced) return fail(synced.error());
    return true;
  }
  if (errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR || errno == EBUSY) return false;
  return system_failure(errno, "remove the folder", path);
}

}  // namespace tenure::os
