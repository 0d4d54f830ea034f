#include "compose/spaces.h"

#include <algorithm>
#include <filesystem>

#include "base/limits.h"
#include "base/text.h"
#include "compose/default_space.h"
#include "compose/local_spaces.h"
#include "compose/receiver_spaces.h"
#include "compose/space_holders.h"
#include "compose/space_url.h"
#include "model/file_names.h"
#include "os/linux/folder_moves.h"
#include "os/linux/probe_folder.h"
#include "os/linux/real_directory.h"
#include "os/linux/user_home.h"

namespace tenure::compose {
namespace {

namespace fs = std::filesystem;

constexpr char kLeases[] = "leases";

// Without doubled slashes, dots and a slash at the end, so that one folder has one spelling.
std::string normal(const std::string& path) {
  std::string text = fs::path(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// The URL of a space that lies in a folder, which is made absolute.
Result<SpaceUrl> place_of(std::string_view text) {
  auto url = parse_space_url(text.empty() ? default_space() : std::string(text));
  if (!url) return url;
  if (url->kind == SpaceUrl::Kind::memory) {
    return fail(Code::unsupported, "a memory: space lies nowhere: it lives and ends with its process",
                "name a space that has a folder, local:NAME or files:DIR");
  }
  if (url->kind == SpaceUrl::Kind::local) {
    SpaceUrl place = settled(*url);
    if (!place.system) place.folder = normal(place.folder);
    return place;
  }
  if (url->folder.front() != '/') {
    const std::string here = os::working_directory();
    if (here.empty()) return fail(Code::unreachable, "the working directory cannot be had", "name the whole path");
    url->folder = here + "/" + url->folder;
  }
  url->folder = normal(url->folder);
  return url;
}

os::FolderChecks checks_of(const SpaceUrl& url) {
  return {url.group_ok, url.any_owner, false};
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_space(const std::string& path) {
  return is_folder(path + "/" + kLeases) || os::Withdrawn::left_behind(path, kLeases);
}

bool is_local(const SpaceUrl& url) {
  return url.kind == SpaceUrl::Kind::local;
}
bool is_receiver(const SpaceUrl& url) {
  return url.kind == SpaceUrl::Kind::receiver;
}

// A folder in which spaces of one kind lie, each under its name.
struct Shelf {
  SpaceUrl like;  // without folder and name
  std::string folder;
};

std::vector<Shelf> shelves() {
  const std::string state = state_folder().path;
  return {{{.kind = SpaceUrl::Kind::local}, normal(state + "/local")},
          {{.kind = SpaceUrl::Kind::files}, normal(state + "/spaces")},
          {{.kind = SpaceUrl::Kind::local, .system = true, .group_ok = true}, kSystemFolder}};
}

SpaceUrl on_shelf(const Shelf& shelf, const std::string& name) {
  SpaceUrl url = shelf.like;
  if (url.system) {
    url.name = name;
  } else {
    url.folder = shelf.folder + "/" + name;
  }
  return url;
}

void count(SpaceInfo& info, const SpaceUrl& url, const std::string& leases) {
  auto use = os::folder_use(leases);
  if (!use) {
    info.error = use.error();
    return;
  }
  auto seen = look_into(leases, url);
  if (!seen) {
    info.error = seen.error();
    return;
  }
  info.files = use->files;
  info.bytes = use->bytes;
  info.file_system = seen->file_system;
  for (const Observation& key : seen->keys) {
    if (key.state == State::damaged) {
      ++info.damaged;
    } else if (key.verdict.liveness == Liveness::dead) {
      ++info.dead;
    } else {
      ++info.held;
    }
  }
}

SpaceInfo describe(const SpaceUrl& url) {
  SpaceInfo info;
  info.path = folder_of(url);
  info.name = fs::path(info.path).filename().string();
  info.url = spelt(url);
  info.engine = is_local(url) ? "local" : is_receiver(url) ? "receiver" : "files";
  const auto usual = place_of({});
  info.is_default = usual && is_local(url) && folder_of(*usual) == info.path;
  if (is_local(url)) {
    local_spaces::describe(info, url);
    return info;
  }
  if (is_receiver(url)) {
    receiver_spaces::describe(info, url);
    return info;
  }
  info.interrupted = os::Withdrawn::left_behind(url.folder, kLeases);
  info.exists = is_space(url.folder);
  if (info.interrupted) {
    const std::string hidden = url.folder + "/" + os::Withdrawn::private_name(kLeases);
    info.notes.push_back(
        "it is being moved or purged, or that was interrupted: tenure space init puts it back, tenure "
        "space purge finishes it");
    if (is_folder(hidden)) count(info, url, hidden);
  } else if (info.exists) {
    count(info, url, url.folder + "/" + kLeases);
  }
  return info;
}

std::unexpected<Error> none_there(const SpaceUrl& url) {
  return fail(Code::unreachable, "there is no space at " + escape_controls(url.folder),
              "tenure space ls shows those that there are");
}

// The space of the URL, withdrawn, with nobody in it. A refusal leaves it as it was.
Result<os::Withdrawn> withdraw_empty(const SpaceUrl& url, bool force) {
  if (!is_space(url.folder)) return none_there(url);
  auto folder = os::open_folder(url.folder, false, checks_of(url));
  if (!folder) return fail(folder.error());
  const std::string leases = url.folder + "/" + kLeases;
  if (!os::Withdrawn::left_behind(url.folder, kLeases)) {
    // Who is refused anyhow should not disturb the claims of others by trying.
    if (auto none = refuse_holders(leases, url, force); !none) return fail(none.error());
  }
  auto withdrawn = os::Withdrawn::take(url.folder, kLeases);
  if (!withdrawn || withdrawn->gone()) return withdrawn;
  if (auto none = refuse_holders(withdrawn->path(), url, force); !none) {
    if (auto back = withdrawn->put_back(); !back) {
      return fail(Code::unknown_outcome,
                  none.error().message + "; and it could not be put back: " + back.error().message,
                  "tenure space init " + text_of(url));
    }
    return fail(none.error());
  }
  return withdrawn;
}

// What doctor left in DIR when it was killed.
void remove_leftovers(const std::string& path) {
  auto names = os::names_in(path);
  if (!names) return;
  for (const std::string& name : *names) {
    if (os::is_probe_folder_name(name)) os::remove_probe_folder(path + "/" + name);
  }
}

// What doctor left in DIR when it was killed, and DIR itself, if nothing else lies in it.
void remove_folder(const std::string& path, PurgeOutcome& outcome) {
  remove_leftovers(path);
  auto removed = os::remove_empty_folder(path);
  outcome.folder_removed = removed && *removed;
  if (!removed) outcome.notes.push_back(removed.error().message);
  if (outcome.folder_removed) return;
  if (auto names = os::names_in(path)) {
    for (const std::string& name : *names) {
      if (name != kLeases) outcome.left.push_back(name);
    }
  }
  std::sort(outcome.left.begin(), outcome.left.end());
}

// Inside DIR, and DIR into itself.
bool lies_in(const std::string& inner, const std::string& outer) {
  return inner == outer || inner.starts_with(outer + "/");
}

}  // namespace

Result<SpaceList> list_spaces(std::string_view chosen_url) {
  auto chosen = place_of(chosen_url);
  if (!chosen) return fail(chosen.error());
  StateFolder state = state_folder();
  SpaceList list{state.path, state.origin, std::move(state.notes), {}};
  bool chosen_shown = false;
  for (const Shelf& shelf : shelves()) {
    auto names = os::names_in(shelf.folder);
    if (!names) {
      list.notes.push_back(names.error().message);
      continue;
    }
    std::sort(names->begin(), names->end());
    for (const std::string& name : *names) {
      const SpaceUrl url = on_shelf(shelf, name);
      if (is_local(url) ? !is_space_name(name) || !local_spaces::exists(url) : !is_space(url.folder)) continue;
      const bool is_chosen = url.kind == chosen->kind && folder_of(url) == folder_of(*chosen);
      list.spaces.push_back(describe(is_chosen ? *chosen : url));
      list.spaces.back().is_chosen = is_chosen;
      chosen_shown = chosen_shown || is_chosen;
    }
  }
  if (!chosen_shown) {
    list.spaces.push_back(describe(*chosen));
    list.spaces.back().is_chosen = true;
  }
  return list;
}

Result<InitOutcome> init_space(std::string_view text, const SpaceLimits& limits) {
  auto url = place_of(text);
  if (!url) return fail(url.error());
  if (is_local(*url)) {
    auto made = local_spaces::init(*url, limits);
    if (!made) return fail(with_url(made.error(), *url));
    made->space = describe(*url);
    made->space.is_chosen = true;
    return made;
  }
  if (limits.keys || limits.members) {
    return fail(Code::unsupported,
                "a files: or receiver: space has no table whose limits could be set: it takes keys while there is "
                "room on the disk",
                "leave out --keys and --members");
  }
  if (is_receiver(*url)) {
    auto made = receiver_spaces::init(*url);
    if (!made) return fail(made.error());
    made->space = describe(*url);
    made->space.is_chosen = true;
    return made;
  }
  const StateFolder state = state_folder();
  if (lies_in(url->folder, normal(state.path)) && !settle(state)) {
    return fail(Code::unsafe_folder, "the folder " + state.path + " cannot be made, or belongs to somebody else",
                "name a folder of your own in TENURE_HOME");
  }
  InitOutcome outcome;
  const std::string leases = url->folder + "/" + kLeases;
  if (os::Withdrawn::left_behind(url->folder, kLeases)) {
    auto withdrawn = os::Withdrawn::take(url->folder, kLeases);
    if (!withdrawn) return fail(withdrawn.error());
    outcome.put_back = !withdrawn->gone();
    if (auto back = withdrawn->put_back(); !back) return fail(back.error());
  }
  const bool folder_was_there = is_folder(url->folder);
  outcome.was_there = is_folder(leases);
  auto made = os::open_folder(url->folder, true, checks_of(*url));
  if (!made) return fail(made.error());
  if (auto inner = os::open_folder(leases, true, checks_of(*url)); !inner) return fail(inner.error());
  if (url->group_ok && !outcome.was_there) {
    std::error_code error;
    const auto group = fs::perms::owner_all | fs::perms::group_all | fs::perms::set_gid;
    fs::permissions(leases, group, error);
    if (!folder_was_there && !error) fs::permissions(url->folder, group, error);
    if (error)
      return fail(Code::not_permitted, "the group's rights cannot be set on " + leases + ": " + error.message());
  }
  outcome.space = describe(*url);
  outcome.space.is_chosen = true;
  return outcome;
}

Result<MoveOutcome> move_space(std::string_view text, const std::string& new_path) {
  auto from = place_of(text);
  if (!from) return fail(from.error());
  if (is_receiver(*from)) return receiver_spaces::refuse(*from, "move");
  SpaceUrl target = *from;
  target.folder = new_path;
  if (new_path.empty()) return fail(Code::usage, "the new path of the space is missing");
  if (is_local(target)) {
    target.system = false;
    target.name.clear();
    target.folder = fs::absolute(new_path).string();
  }
  auto to = place_of(text_of(target));
  if (!to) return fail(to.error());
  if (is_local(*from)) {
    auto moved = local_spaces::move(*from, to->folder);
    if (!moved) return fail(with_url(moved.error(), *from));
    moved->url = spelt(*to);
    return moved;
  }
  if (lies_in(to->folder, from->folder)) {
    return fail(Code::usage, "a space cannot be moved into itself: " + escape_controls(to->folder));
  }
  std::error_code error;
  if (fs::is_symlink(from->folder, error)) {
    return fail(Code::unsafe_folder, escape_controls(from->folder) + " is a link, and others may come by another way",
                "name the folder itself: " + escape_controls(fs::read_symlink(from->folder, error).string()));
  }
  auto withdrawn = withdraw_empty(*from, false);
  if (!withdrawn) return fail(withdrawn.error());
  const auto moved = os::move_folder(from->folder, to->folder);
  // Back in its place within DIR, wherever DIR lies now.
  const auto back = withdrawn->put_back();
  if (!moved) return fail(moved.error());
  MoveOutcome outcome{from->folder, to->folder, text_of(*to)};
  if (back) return outcome;
  return fail(Code::unknown_outcome,
              "the space lies at " + escape_controls(to->folder) + " now, but " + back.error().message,
              "tenure space init --space '" + outcome.url + "'");
}

Result<RepairOutcome> repair_space(std::string_view text, const std::string& reason) {
  auto url = place_of(text);
  if (!url) return fail(url.error());
  if (is_receiver(*url)) {
    return fail(Code::unsupported, "a receiver: space has a repair of its own",
                "tenure repair " + escape_controls(text_of(*url)));
  }
  if (!is_local(*url)) {
    return fail(Code::unsupported, "a files: space keeps an epoch for each key, and has nothing to repair as a whole",
                "tenure revoke --force --reason TEXT KEY, for the key that is refused");
  }
  if (reason.empty())
    return fail(Code::usage, "a repair wants a reason, which is kept in the log of the space", "--reason TEXT");
  if (auto fault = fault_in_text(reason)) return fail(Code::bad_label, "the reason: " + describe(*fault));
  auto repaired = local_spaces::repair(*url, reason);
  if (!repaired) return fail(with_url(repaired.error(), *url));
  repaired->space = describe(*url);
  repaired->space.is_chosen = true;
  return repaired;
}

Result<PurgeOutcome> purge_space(std::string_view text, bool force) {
  auto url = place_of(text);
  if (!url) return fail(url.error());
  if (is_receiver(*url)) return receiver_spaces::refuse(*url, "remove");
  if (is_local(*url)) {
    auto purged = local_spaces::purge(*url, force);
    if (!purged) return fail(with_url(purged.error(), *url));
    remove_folder(purged->path, *purged);
    return purged;
  }
  auto withdrawn = withdraw_empty(*url, force);
  if (!withdrawn) return fail(withdrawn.error());
  PurgeOutcome outcome;
  outcome.path = url->folder;
  if (withdrawn->resumed()) outcome.notes.push_back("an interrupted move or purge of it was finished");
  auto removal = withdrawn->remove([](std::string_view name) { return stem_of(name).has_value(); });
  if (!removal) {
    return fail(Code::unknown_outcome, "the space is half purged: " + removal.error().message,
                "tenure space purge once more");
  }
  outcome.removed = removal->removed;
  for (const std::string& name : removal->left) outcome.left.push_back(std::string(kLeases) + "/" + name);
  remove_folder(url->folder, outcome);
  return outcome;
}

}  // namespace tenure::compose
