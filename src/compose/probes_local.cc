#include "compose/probes_local.h"

#include "base/text.h"
#include "compose/default_space.h"
#include "compose/open_local_space.h"
#include "compose/real_environment.h"
#include "engine/local/inside.h"
#include "model/ceiling_record.h"
#include "os/linux/real_words.h"
#include "rules/ceiling.h"

namespace tenure::compose {
namespace {

using os::Probe;
using os::ProbeOf;

std::string repair_command(const SpaceUrl& url, const std::string& reason) {
  return with_url(
             Error{Code::epoch_unreadable, {}, "tenure space repair --space URL --reason '" + reason + "'", nullptr},
             url)
      .remedy;
}

struct Copies {
  int readable = 0;
  int missing = 0;
  bool copied = false;
  Epoch bound;
};

Result<Copies> read_copies(os::RealLocalFolder& folder) {
  const env::LocalFolder::Birth birth = folder.birth();
  const FolderMark here{.identity = birth.identity, .born = birth.born};
  Copies copies;
  for (const char* name : {"ceiling", "ceiling.copy"}) {
    auto content = folder.directory().read(name, kMaxCeilingBytes);
    if (!content && content.error().code != Code::damaged && content.error().code != Code::input_output) {
      return fail(content.error());
    }
    if (content && !*content) ++copies.missing;
    auto record = content && *content ? decode_ceiling_record((*content)->bytes)
                                      : Result<CeilingRecord>{fail(Code::damaged, "it cannot be read")};
    if (!record) continue;
    ++copies.readable;
    copies.copied = copies.copied || !rules::same_folder(record->folder, here);
    copies.bound = std::max(copies.bound, record->bound);
  }
  return copies;
}

Probe probe_ceiling(const SpaceUrl& url) {
  const ProbeOf probe("ceiling", "epochs only rise, whatever becomes of the table");
  auto folder = open_local_folder(url, false, true);
  if (!folder) return probe.limited(folder.error().message, folder.error().remedy);
  const auto copies = read_copies(**folder);
  if (!copies) return probe.limited(copies.error().message, copies.error().remedy);
  if (copies->missing == 2) return probe.good("nobody has taken an epoch here yet");
  if (copies->readable == 0) {
    return probe.bad("no copy of it can be read", repair_command(url, "the ceiling is lost"));
  }
  const std::string bound = "no epoch above " + copies->bound.text() + " was given out";
  if (copies->copied) {
    return probe.limited(
        "the folder was copied or restored: with the next table the epochs jump, " + bound + " before it was",
        "none is needed");
  }
  if (copies->readable == 1) {
    return probe.limited(
        std::string("one copy is ") + (copies->missing == 1 ? "missing" : "damaged") + "; by the other, " + bound,
        repair_command(url, "one copy is damaged"));
  }
  return probe.good("both copies say it: " + bound);
}

Probe judge_members(const LocalSight& inside) {
  const ProbeOf probe("members", "nobody holds up the others, and there is room");
  std::string stopped;
  for (const LocalMember& member : inside.members) {
    const std::string pid = std::to_string(member.process.pid);
    if (member.stopped && member.in_section) {
      return probe.bad("pid " + pid + " is stopped inside a bucket, whose keys nobody can claim meanwhile",
                       "kill -CONT " + pid);
    }
    if (member.stopped) stopped += (stopped.empty() ? "; stopped: pid " : ", ") + pid;
  }
  const std::string seen = std::to_string(inside.members.size()) + " of " + std::to_string(inside.limits.members) +
                           " processes have it open, " + std::to_string(inside.cells) + " of " +
                           std::to_string(inside.limits.cells) + " cells are taken" + stopped;
  const bool crowded = inside.members.size() * 10 > std::size_t{inside.limits.members} * 9;
  if (inside.cells * 10 > std::size_t{inside.limits.cells} * 9 || crowded) {
    return probe.limited(seen, "make room when nobody is in: tenure space init --keys N --members N");
  }
  return probe.good(seen);
}

Probe probe_members(const SpaceUrl& url) {
  const ProbeOf probe("members", "nobody holds up the others, and there is room");
  auto folder = open_local_folder(url, false, true);
  if (!folder) return probe.limited(folder.error().message, folder.error().remedy);
  auto inside = look_into_local(std::move(*folder), std::make_shared<os::RealWords>(), real_environment());
  if (!inside) return probe.bad(inside.error().message, with_url(inside.error(), url).remedy);
  if (!*inside) return probe.good("nobody has used it since the machine started");
  return judge_members(**inside);
}

}  // namespace

std::vector<Probe> probe_local_space(const SpaceUrl& url) {
  return {probe_ceiling(url), probe_members(url)};
}

}  // namespace tenure::compose
