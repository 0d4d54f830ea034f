#include "compose/probes.h"

#include <filesystem>

#include "base/limits.h"
#include "base/text.h"
#include "compose/default_space.h"
#include "compose/probes_local.h"
#include "compose/receiver_spaces.h"
#include "compose/space_url.h"
#include "model/file_names.h"
#include "model/lease_record.h"
#include "os/linux/probe_cgroup.h"
#include "os/linux/probe_files.h"
#include "os/linux/probe_folder.h"
#include "os/linux/probe_kernel.h"
#include "os/linux/probe_local.h"
#include "os/linux/probe_locks.h"
#include "os/linux/probe_place.h"
#include "os/linux/probe_processes.h"
#include "os/linux/real_directory.h"
#include "os/linux/user_home.h"

namespace tenure::compose {
namespace {

namespace fs = std::filesystem;

using os::ProbeOf;

constexpr std::size_t kNamedKeys = 10;

void append(std::vector<Probe>& all, std::vector<Probe> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Probe probe_state_folder() {
  const ProbeOf probe("state folder", "a shell, cron, sudo and a service of one user meet in one place");
  const StateFolder state = state_folder();
  std::string seen = state.path + " (" + state.origin + ")";
  for (const std::string& note : state.notes) seen += "; " + note;
  if (state.fallback) {
    return probe.limited(escape_controls(seen),
                         "give the user a home in the password database, or set TENURE_HOME for "
                         "all of its programs");
  }
  if (!state.notes.empty()) {
    return probe.limited(escape_controls(seen), "set TENURE_HOME in all of them if the other place is meant");
  }
  return probe.good(escape_controls(seen));
}

// The nearest folder that is there: `path` itself, or one above it.
std::string nearest_folder(const std::string& path) {
  std::error_code error;
  fs::path folder = path;
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder.string();
}

struct Place {
  SpaceUrl url;
  std::string folder;   // DIR, absolute
  std::string nearest;  // where it can be tried
};

Probe probe_space(const Place& place) {
  const ProbeOf probe("space", "the space is there");
  const std::string seen = escape_controls(spelt(settled(place.url))) + " in " + escape_controls(place.folder);
  if (place.nearest == place.folder) return probe.good(seen);
  return probe.limited(seen + " is not made yet; " + escape_controls(place.nearest) + " was tried in its place",
                       "none is needed: the first claim makes it, or tenure space init");
}

// A record without our fields was written by AgentMux.
Probe probe_agentmux(const std::string& leases, const SpaceUrl& url) {
  const ProbeOf probe("AgentMux", "a holder that lives is not displaced");
  if (url.expiry == rules::Expiry::age) {
    return probe.limited(
        "the space was opened with expiry=age, AgentMux's own rule: a holder that is silent for 15 s is "
        "displaced, alive or not",
        "leave out expiry=age");
  }
  std::error_code error;
  if (!fs::is_directory(leases, error)) return probe.good("nobody has written here yet");
  auto directory = os::RealDirectory::open(leases, false, {url.group_ok, url.any_owner, true});
  if (!directory)
    return probe.limited("the folder cannot be read: " + directory.error().message, directory.error().remedy);
  const auto names = (*directory)->list(limits::kNamesInFolder);
  if (!names) return probe.limited("the folder cannot be listed: " + names.error().message, names.error().remedy);
  std::string keys;
  std::size_t count = 0;
  for (const std::string& name : *names) {
    if (!stem_of_record(name)) continue;
    const auto content = (*directory)->read(name, kMaxRecordBytes);
    if (!content || !*content) continue;
    const auto record = decode_lease_record((*content)->bytes);
    if (!record || record->extra) continue;
    if (++count <= kNamedKeys) keys += (count == 1 ? "" : ", ") + escape_controls(record->instance_id);
  }
  if (count == 0) return probe.good("no record of AgentMux lies here");
  if (count > kNamedKeys) keys += " and " + std::to_string(count - kNamedKeys) + " more";
  return probe.limited("AgentMux has written here (" + keys +
                           "): it may displace a holder that is silent for 15 s, alive "
                           "or not, and judges death by host name and pid",
                       "keep keys of tenure and of AgentMux in different folders, or let all who use them be tenure");
}

// What the engine of the space does to its folder.
std::vector<Probe> probe_engine(const os::ProbeFolder& folder, const SpaceUrl& url) {
  if (url.kind == SpaceUrl::Kind::local) {
    std::vector<Probe> probes = {os::probe_replace(folder), os::probe_sync(folder), os::probe_flock(folder),
                                 os::probe_local_file_system(folder, url.volatile_ok), os::probe_member(folder)};
    append(probes, os::probe_local_features());
    return probes;
  }
  std::vector<Probe> probes = {os::probe_overwrite(folder),    os::probe_replace(folder),
                               os::probe_rename_flags(folder), os::probe_unnamed_file(folder),
                               os::probe_sync(folder),         os::probe_flock(folder)};
  if (url.kind == SpaceUrl::Kind::receiver) probes.push_back(os::probe_second_name(folder));
  append(probes, os::probe_life_and_watch(folder));
  return probes;
}

std::vector<Probe> probe_files_in(const std::string& nearest, const SpaceUrl& url) {
  auto folder = os::ProbeFolder::make(nearest);
  if (!folder) {
    return {ProbeOf("files", "files and locks can be made where the space lies")
                .bad(folder.error().message,
                     folder.error().remedy.empty() ? "choose a folder that you may write to" : folder.error().remedy)};
  }
  return probe_engine(*folder, url);
}

std::vector<Probe> probe_place(const Place& place) {
  std::vector<Probe> probes = {probe_space(place)};
  const bool local = place.url.kind == SpaceUrl::Kind::local;
  const bool receiver = place.url.kind == SpaceUrl::Kind::receiver;
  const os::FolderChecks checks{place.url.group_ok, place.url.any_owner || place.url.system, false};
  const std::string leases = place.folder + "/leases";
  if (place.nearest == place.folder) {
    probes.push_back(os::probe_folder_rights(place.folder, checks));
    std::error_code error;
    if (!local && !receiver && probes.back().finding == Probe::Finding::good && fs::is_directory(leases, error)) {
      probes.back() = os::probe_folder_rights(leases, checks);
    }
  }
  // Of a folder that is not made yet, the one that it will be made in counts as above.
  probes.push_back(os::probe_folder_above(place.nearest == place.folder ? place.folder : place.nearest + "/new"));
  probes.push_back(os::probe_file_system(place.nearest));
  probes.push_back(os::probe_room(place.nearest));
  append(probes, probe_files_in(place.nearest, place.url));
  if (receiver) {
    append(probes, receiver_spaces::probe(place.url));
  } else if (!local) {
    probes.push_back(probe_agentmux(leases, place.url));
  } else if (place.nearest == place.folder) {
    append(probes, probe_local_space(place.url));
  }
  return probes;
}

std::vector<Probe> probe_url(const std::string& text) {
  const ProbeOf probe("space", "the space is there");
  auto url = parse_space_url(text.empty() ? default_space() : text);
  if (!url) return {probe.bad(url.error().message, url.error().remedy)};
  if (url->kind == SpaceUrl::Kind::memory) {
    return {probe.good("memory: lies nowhere, and needs nothing of the disk")};
  }
  Place place{*url, folder_of(*url), {}};
  if (place.folder.front() != '/') place.folder = os::working_directory() + "/" + place.folder;
  place.folder = fs::path(place.folder).lexically_normal().string();
  while (place.folder.size() > 1 && place.folder.back() == '/') place.folder.pop_back();
  if (place.url.kind == SpaceUrl::Kind::receiver) place.url.folder = place.folder;
  place.nearest = nearest_folder(place.folder);
  return probe_place(place);
}

}  // namespace

std::string_view word_of(Probe::Finding finding) {
  switch (finding) {
    case Probe::Finding::good:
      return "good";
    case Probe::Finding::limited:
      return "limited";
    case Probe::Finding::bad:
      return "bad";
  }
  return "";
}

std::vector<Probe> probe_all(const std::string& space_url) {
  std::vector<Probe> all = {probe_state_folder()};
  append(all, probe_url(space_url));
  append(all, {os::probe_proc(), os::probe_proc_locks(), os::probe_pid_namespace(), os::probe_time_namespace(),
               os::probe_user_namespace(), os::probe_seccomp(), os::probe_tracing()});
  append(all, {os::probe_kernel_version(), os::probe_boot_id(), os::probe_machine_id()});
  append(all, os::probe_kernel_features());
  append(all, {os::probe_clocks(), os::probe_wall_clock(), os::probe_randomness(), os::probe_control_group(),
               os::probe_descriptors(), os::probe_process_limit()});
  return all;
}

}  // namespace tenure::compose
