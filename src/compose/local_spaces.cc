#include "compose/local_spaces.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "compose/default_space.h"
#include "compose/open_local_space.h"
#include "compose/real_environment.h"
#include "engine/local/local.h"
#include "engine/local/operate.h"
#include "os/linux/folder_moves.h"
#include "os/linux/real_words.h"

namespace tenure::compose::local_spaces {
namespace {

namespace fs = std::filesystem;

constexpr char kTable[] = "table";
constexpr char kLock[] = "lock";

std::shared_ptr<env::Words> words() {
  return std::make_shared<os::RealWords>();
}

// What holds room for others, too: only the names that are a space's.
bool has(const std::string& folder, const char* name) {
  std::error_code error;
  return fs::exists(fs::symlink_status(folder + "/" + name, error));
}

void count(SpaceInfo& info, const SpaceUrl& url) {
  auto folder = open_local_folder(url, false, true);
  if (!folder) {
    info.error = folder.error();
    return;
  }
  info.file_system = (*folder)->file_system().name;
  if (auto use = os::folder_use(info.path)) {
    info.files = use->files;
    info.bytes = use->bytes;
  }
  auto sight = look_into_local(std::move(*folder), words(), real_environment());
  if (!sight) {
    info.error = sight.error();
    return;
  }
  info.inside = std::move(*sight);
  if (!info.inside) return;
  auto space = open_local_space(url, {.create = false, .observe_only = true});
  auto keys = space ? space->list() : Result<std::vector<Observation>>{fail(space.error())};
  if (!keys) {
    info.error = keys.error();
    return;
  }
  for (const Observation& key : *keys) {
    ++(key.verdict.liveness == Liveness::dead ? info.dead : info.held);
  }
}

// Root makes the folders of a system: space, and says who may use it by their group.
Result<void> make_system_folder(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  fs::create_directories(kSystemFolder, error);
  if (!error) fs::create_directory(path, error);
  const auto group = fs::perms::owner_all | fs::perms::group_all | fs::perms::set_gid;
  if (!error) fs::permissions(path, group, error);
  if (!error) return {};
  return fail(Code::not_permitted, "the folder " + path + " cannot be made: " + error.message(), "make it as root");
}

void let_group_in(const std::string& path) {
  std::error_code error;
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_all | fs::perms::set_gid, error);
}

Result<LocalAlone> alone_in(const SpaceUrl& url, bool force) {
  auto folder = open_local_folder(url, false, false);
  if (!folder) return fail(folder.error());
  return LocalAlone::enter(std::move(*folder), words(), real_environment(), force);
}

std::unexpected<Error> none_there(const SpaceUrl& url) {
  return fail(Code::unreachable, "there is no space at " + escape_controls(folder_of(url)),
              "tenure space ls shows those that there are");
}

}  // namespace

bool exists(const SpaceUrl& url) {
  const std::string folder = folder_of(url);
  return has(folder, kLock) || has(folder, kTable) || has(folder, "ceiling") || has(folder, local::kLimitsName);
}

void describe(SpaceInfo& info, const SpaceUrl& url) {
  std::error_code error;
  info.exists = fs::is_directory(info.path, error);
  if (info.exists) count(info, url);
}

Result<InitOutcome> init(const SpaceUrl& url, const SpaceLimits& limits) {
  InitOutcome outcome;
  const std::string path = folder_of(url);
  outcome.was_there = exists(url);
  const bool folder_was_there = has(path, ".");
  if (url.system) {
    if (auto made = make_system_folder(path); !made) return fail(made.error());
  }
  auto folder = open_local_folder(url, true, false);
  if (!folder) return fail(folder.error());
  if (url.group_ok && !url.system && !folder_was_there) let_group_in(path);
  LocalOptions options;
  if (limits.keys || limits.members) {
    options.remake = local::WantedLimits{.members = limits.members};
    if (limits.keys) options.remake->cells = local::cells_for(*limits.keys);
  }
  // Its table is made here and now, so that what stands in the way is told here and now.
  auto engine = open_local(std::move(*folder), words(), real_environment(), options);
  if (!engine) return fail(engine.error());
  if (url.system && !folder_was_there) {
    outcome.notes.push_back("its users are the members of its group: chgrp -R GROUP " + path);
  }
  return outcome;
}

Result<MoveOutcome> move(const SpaceUrl& from, const std::string& to) {
  const std::string path = folder_of(from);
  std::error_code error;
  if (fs::is_symlink(path, error)) {
    return fail(Code::unsafe_folder, escape_controls(path) + " is a link, and others may come by another way",
                "name the folder itself: " + escape_controls(fs::read_symlink(path, error).string()));
  }
  if (to == path || to.starts_with(path + "/")) {
    return fail(Code::usage, "a space cannot be moved into itself: " + escape_controls(to));
  }
  if (!exists(from)) return none_there(from);
  auto alone = alone_in(from, false);
  if (!alone) return fail(alone.error());
  if (auto moved = os::move_folder(path, to); !moved) return fail(moved.error());
  return MoveOutcome{path, to, {}};
}

Result<PurgeOutcome> purge(const SpaceUrl& url, bool force) {
  if (!exists(url)) return none_there(url);
  auto alone = alone_in(url, force);
  if (!alone) return fail(alone.error());
  PurgeOutcome outcome;
  outcome.path = folder_of(url);
  auto removed = alone->remove_files();
  if (!removed) {
    return fail(Code::unknown_outcome, "the space is half purged: " + removed.error().message,
                "tenure space purge once more");
  }
  outcome.removed = *removed;
  return outcome;
}

Result<RepairOutcome> repair(const SpaceUrl& url, const std::string& reason) {
  if (!exists(url)) return none_there(url);
  auto folder = open_local_folder(url, false, false);
  if (!folder) return fail(folder.error());
  auto notes = repair_local(std::move(*folder), words(), real_environment(), reason);
  if (!notes) return fail(notes.error());
  return RepairOutcome{{}, std::move(*notes)};
}

}  // namespace tenure::compose::local_spaces
