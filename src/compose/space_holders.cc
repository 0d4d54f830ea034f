#include "compose/space_holders.h"

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "base/text.h"
#include "compose/real_environment.h"
#include "engine/engine.h"
#include "engine/files/files_engine.h"
#include "model/file_names.h"
#include "os/linux/real_directory.h"

namespace tenure::compose {
namespace {

constexpr std::size_t kNamedHolders = 10;

// A holder whose record was taken away writes it again at its next sign of life: until then only its lock shows it.
Result<void> add_unrecorded(env::Directory& directory, std::vector<Observation>& keys) {
  auto names = directory.list(limits::kNamesInFolder);
  if (!names) return fail(names.error());
  std::set<std::string> known;
  for (const Observation& key : keys) known.insert(file_names(key.key).stem);
  for (const std::string& name : *names) {
    const auto stem = stem_of(name);
    if (!stem || name != *stem + ".life" || known.contains(*stem)) continue;
    if (directory.probe_life(name, std::nullopt).sight != LifeSight::held) continue;
    auto key = Key::parse(*stem);
    if (!key) continue;
    Observation seen(*key);
    seen.state = State::held;
    seen.verdict = {Liveness::live, "its life lock is held, though its record is gone"};
    keys.push_back(std::move(seen));
  }
  return {};
}

std::string words_of(const Observation& key) {
  std::string text = escape_controls(key.key.text());
  if (key.holder) text += " by " + escape_controls(key.holder->owner);
  return text + " (" + key.verdict.evidence + ")";
}

}  // namespace

Result<SpaceContents> look_into(const std::string& leases, const SpaceUrl& url) {
  os::FolderChecks checks;
  checks.observe_only = true;
  checks.any_owner = url.any_owner;
  checks.group_ok = url.group_ok;
  auto opened = os::RealDirectory::open(leases, false, checks);
  if (!opened) return fail(opened.error());
  std::shared_ptr<os::RealDirectory> directory = std::move(*opened);
  const auto engine = open_files(directory, real_environment(), FilesOptions{url.expiry});
  auto keys = engine->list("");
  if (!keys) return fail(keys.error());
  SpaceContents contents{directory->file_system().name, std::move(*keys)};
  if (auto added = add_unrecorded(*directory, contents.keys); !added) return fail(added.error());
  return contents;
}

Result<void> refuse_holders(const std::string& leases, const SpaceUrl& url, bool force) {
  auto contents = look_into(leases, url);
  if (!contents) return fail(contents.error());
  std::vector<const Observation*> in_the_way;
  bool any_live = false;
  for (const Observation& key : contents->keys) {
    const bool live = key.verdict.liveness == Liveness::live;
    if (key.verdict.liveness == Liveness::dead || (force && !live)) continue;
    in_the_way.push_back(&key);
    any_live = any_live || live;
  }
  if (in_the_way.empty()) return {};
  std::string message = std::to_string(in_the_way.size()) +
                        (in_the_way.size() == 1 ? " key is held or may be held: " : " keys are held or may be held: ");
  const std::size_t named = std::min(in_the_way.size(), kNamedHolders);
  for (std::size_t index = 0; index < named; ++index) {
    message += (index == 0 ? "" : ", ") + words_of(*in_the_way[index]);
  }
  if (named < in_the_way.size()) message += ", and " + std::to_string(in_the_way.size() - named) + " more";
  Error error{Code::holder_live, std::move(message),
              any_live ? "end the holders, or take the keys away: tenure revoke --force --reason TEXT KEY"
                       : "look at them with tenure who; to purge all the same: --force",
              std::make_shared<const Observation>(*in_the_way.front())};
  return fail(std::move(error));
}

}  // namespace tenure::compose
