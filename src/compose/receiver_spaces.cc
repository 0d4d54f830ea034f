#include "compose/receiver_spaces.h"

#include <filesystem>

#include "base/text.h"
#include "compose/open_receiver_space.h"
#include "os/linux/folder_moves.h"
#include "os/linux/open_folder.h"

namespace tenure::compose::receiver_spaces {
namespace {

namespace fs = std::filesystem;
using os::Probe;
using os::ProbeOf;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Result<Observation> observed(const SpaceUrl& url) {
  auto space = open_receiver_space(url, {.create = false, .observe_only = true});
  if (!space) return fail(space.error());
  return space->holder(*Key::parse(kReceiverKey));
}

Probe probe_holder(const SpaceUrl& url) {
  const ProbeOf probe("receiver", "a holder that lives is not displaced");
  auto seen = observed(url);
  if (!seen) return probe.limited("it cannot be looked at: " + seen.error().message, seen.error().remedy);
  const bool of_pi = seen->state == State::held && seen->epoch.none();
  return probe.limited(std::string(of_pi ? "a process of pi-amq holds it now; " : "") +
                           "pi-amq of the same folder displaces a holder whose program's file was replaced, or whose "
                           "pid it does not see",
                       "do not replace the program of a holder; keep its users in one pid namespace");
}

Probe probe_faults(const SpaceUrl& url) {
  const ProbeOf probe("records", "guard, intents and lease can be read and judged");
  auto faults = repair_receiver_space(text_of(url), false, false, "");
  if (!faults) return probe.limited("they cannot be looked at: " + faults.error().message, faults.error().remedy);
  if (faults->empty()) return probe.good("nothing is wrong with them");
  std::string what = faults->front().what;
  if (faults->size() > 1) what += ", and " + std::to_string(faults->size() - 1) + " more";
  return probe.bad(what, "tenure repair " + text_of(url));
}

}  // namespace

void describe(SpaceInfo& info, const SpaceUrl& url) {
  info.exists = is_folder(url.folder);
  if (!info.exists) return;
  auto use = os::folder_use(url.folder);
  auto seen = use ? observed(url) : Result<Observation>(fail(use.error()));
  if (!seen) {
    info.error = seen.error();
    return;
  }
  info.files = use->files;
  info.bytes = use->bytes;
  if (auto opened = os::open_folder(url.folder, false, {.observe_only = true})) {
    info.file_system = opened->file_system.name;
  }
  if (seen->state == State::damaged) info.damaged = 1;
  if (seen->state == State::held) ++(seen->verdict.liveness == Liveness::dead ? info.dead : info.held);
}

Result<InitOutcome> init(const SpaceUrl& url) {
  InitOutcome outcome;
  outcome.was_there = is_folder(url.folder);
  auto made = os::open_folder(url.folder, true, {.group_ok = url.group_ok, .any_owner = url.any_owner});
  if (!made) return fail(made.error());
  if (!url.group_ok || outcome.was_there) return outcome;
  std::error_code error;
  fs::permissions(url.folder, fs::perms::owner_all | fs::perms::group_all | fs::perms::set_gid, error);
  if (!error) return outcome;
  return fail(Code::not_permitted, "the group's rights cannot be set on " + url.folder + ": " + error.message());
}

std::unexpected<Error> refuse(const SpaceUrl& url, const char* verb) {
  return fail(Code::unsupported,
              "the folder of a receiver: space is pi-amq's as well, so tenure does not " + std::string(verb) + " it",
              std::string(verb) + " " + escape_controls(url.folder) + " by hand while nobody uses it");
}

std::vector<Probe> probe(const SpaceUrl& url) {
  if (!is_folder(url.folder)) return {};
  return {probe_faults(url), probe_holder(url)};
}

}  // namespace tenure::compose::receiver_spaces
