#include "engine/local/operate.h"

#include <array>

#include "base/text.h"
#include "engine/local/events.h"
#include "engine/local/inside.h"
#include "engine/local/join.h"
#include "engine/local/local_engine.h"

namespace tenure {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);  // with somebody who makes a table
constexpr Duration kPause = std::chrono::milliseconds(20);
constexpr int kAttempts = 25;  // whoever was in may be leaving

// The epochs come last, and before them the mark that there were any: whatever a crash leaves, the next table begins
// above them or with the clock.
constexpr std::array kFiles = {"table",        "table.new",    "limits",  "limits.new", "ceiling.new",
                               "ceiling.lock", "ceiling.copy", "ceiling", "lock"};

}  // namespace

LocalAlone::~LocalAlone() {
  if (folder_) folder_->leave();
}

Result<LocalAlone> LocalAlone::enter(std::unique_ptr<env::LocalFolder> folder, std::shared_ptr<env::Words> words,
                                     env::Environment environment, bool force) {
  local::Core core(std::move(environment), std::move(folder), std::move(words));
  LocalAlone alone(core.folder);
  local::Word32 nobody{0};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (auto entered = core.folder->enter(kPatience); !entered) return fail(entered.error());
    auto ours = core.folder->enter_alone();
    if (!ours) return fail(ours.error());
    if (*ours) {
      const auto present = local::map_present(core);
      // Noise holds nothing.
      if (present && *present) {
        if (auto none = local::refuse_held_keys(core, force); !none) return fail(none.error());
      }
      core.memory.reset();
      return alone;
    }
    const auto present = local::map_present(core);
    const auto members = present && *present ? local::living_members(core) : std::vector<LocalMember>{};
    core.folder->leave();
    if (!members.empty()) {
      return fail(Code::holder_live, core.folder->path() + ": " + local::words_of(members), "end them, and try again");
    }
    const std::array watched{env::Watched{&nobody, 0}};
    core.words->wait(watched, kPause);
  }
  return fail(Code::holder_live, core.folder->path() + ": another process has it open",
              "end it, and try again: fuser " + core.folder->path() + "/lock");
}

Result<std::size_t> LocalAlone::remove_files() const {
  std::size_t removed = 0;
  for (const char* name : kFiles) {
    auto gone = folder_->directory().remove(name);
    if (!gone) return fail(gone.error());
    if (*gone) ++removed;
  }
  if (auto synced = folder_->directory().sync(); !synced) return fail(synced.error());
  return removed;
}

Result<std::vector<std::string>> repair_local(std::unique_ptr<env::LocalFolder> folder,
                                              std::shared_ptr<env::Words> words, env::Environment environment,
                                              const std::string& reason) {
  auto core = std::make_unique<local::Core>(std::move(environment), std::move(folder), std::move(words));
  if (auto entered = core->folder->enter(kPatience); !entered) return fail(entered.error());
  std::vector<std::string> notes;
  const auto present = local::map_present(*core);
  if (present && *present) {
    const Epoch bound{core->table.header().ceiling.load(std::memory_order_acquire)};
    auto raised = core->ceiling.raise(bound);
    if (!raised) return fail(raised.error());
    notes.push_back("the table of the space is whole, and the ceiling was written anew from it: " + raised->text());
  } else {
    auto repaired = core->ceiling.repair();
    if (!repaired) return fail(repaired.error());
    notes = std::move(repaired->notes);
  }
  core->folder->leave();
  core->memory.reset();
  auto mended = local::note_repair(std::move(core), reason);
  if (!mended) return fail(mended.error());
  return notes;
}

}  // namespace tenure
