#include "engine/receiver/guard.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "engine/receiver/judge.h"

namespace tenure::receiver {
namespace {

using Kind = InTheWay::Kind;

constexpr std::size_t kMostIntents = 4'096;
// A guard is kept for a millisecond, as a rule. pi-amq looks each 5 ms.
constexpr Duration kPollFirst = std::chrono::microseconds(200);
constexpr Duration kPollMost = std::chrono::milliseconds(5);
constexpr int kHasty = 32;  // tries without a pause where something changed under our hands

std::string shown(const ReceiverProcess& recorded) {
  return "pid " + std::to_string(recorded.pid) + " on " + escape_controls(recorded.hostname);
}

// What to do about a live one.
std::string advice_on(const Core& core, const ReceiverProcess& recorded) {
  const auto pid = static_cast<std::int32_t>(std::min<std::uint64_t>(recorded.pid, INT32_MAX));
  const ProcessSight sight = core.environment.processes->look(pid);
  const bool same =
      sight.stat == ProcessSight::Stat::read && std::to_string(sight.start_ticks) == recorded.start_identity;
  if (!same || (sight.state != 'T' && sight.state != 't')) return "try again; if it stays, see what that process does";
  return "it is stopped, in the middle: kill -CONT " + std::to_string(pid) + " lets it go on, or end it";
}

InTheWay refuse(const Core& core, InTheWay way, Code code, const std::string& message) {
  way.kind = Kind::unverifiable;
  way.error = {code, message + " (lifecycle-unverifiable)", core.repair_command(), nullptr};
  return way;
}

InTheWay changed(const Core& core) {
  InTheWay way{.kind = Kind::changed};
  way.error = {Code::section_busy, "the guard of " + core.root->path() + " keeps changing hands", "try again", nullptr};
  return way;
}

// A thing that cannot be read as a record.
Result<InTheWay> judge_damage(const Core& core, env::Directory& folder, InTheWay way, const std::string& why) {
  auto entry = folder.look(way.name);
  if (!entry) return fail(entry.error());
  if (entry->kind == env::EntryKind::absent) return InTheWay{};
  way.identity = entry->identity;
  const std::string path = folder.path() + "/" + way.name;
  return refuse(core, std::move(way), Code::damaged, path + " is damaged: " + why);
}

// What stands under the name, judged.
Result<InTheWay> judge_file(const Core& core, env::Directory& folder, const std::string& name, const char* what) {
  InTheWay way;
  way.name = name;
  auto content = folder.read(name, limits::kRecordBytes);
  if (!content && content.error().code != Code::damaged) return fail(content.error());
  if (!content) return judge_damage(core, folder, std::move(way), content.error().message);
  if (!*content) return way;
  auto record = decode_receiver_guard((*content)->bytes);
  if (!record) return judge_damage(core, folder, std::move(way), record.error().message);
  way.identity = (*content)->identity;
  way.generation = record->generation;
  const auto judged = judge_paper(core, folder, name, way.identity, *record);
  switch (judged.verdict.liveness) {
    case Liveness::live:
      way.kind = Kind::busy;
      way.error = {Code::section_busy,
                   std::string(what) + " of " + core.root->path() + " is taken by " + shown(*record) + ": " +
                       judged.verdict.evidence + " (lifecycle-busy)",
                   advice_on(core, *record), nullptr};
      return way;
    case Liveness::dead:
      way.kind = Kind::stale;
      return way;
    case Liveness::unknown:
      break;
  }
  // It may be unknown because it went while it was looked at.
  auto entry = folder.look(name);
  if (!entry) return fail(entry.error());
  if (entry->identity != way.identity) return changed(core);
  return refuse(
      core, std::move(way), Code::holder_live,
      folder.path() + "/" + name + " was made by " + shown(*record) + ", who may live: " + judged.verdict.evidence);
}

// Sleeps a little between two looks. False: the time is over, or a stop came.
class Pause {
 public:
  Pause(const Core& core, const Bound& bound) : core_(core), bound_(bound) {}

  Result<bool> sleep() {
    if (bound_.over(core_)) return false;
    // The watch begins before the look that decides to sleep, so that no change falls between them.
    if (watch_ == nullptr) {
      auto watch = core_.root->watch();
      if (!watch) return fail(watch.error());
      watch_ = std::move(*watch);
      return true;
    }
    auto slept = watch_->wait(std::clamp(bound_.left(core_), Duration{0}, pause_), bound_.stop, -1);
    if (!slept) return fail(slept.error());
    pause_ = std::min(pause_ * 2, kPollMost);
    return true;
  }

 private:
  const Core& core_;
  const Bound& bound_;
  std::unique_ptr<env::Watch> watch_;
  Duration pause_ = kPollFirst;
};

Error over(const Bound& bound, Error error) {
  if (bound.stop == nullptr || !bound.stop->requested()) return error;
  error.code = Code::cancelled;
  error.message = "the wait was given up: " + error.message;
  return error;
}

// Removes our guard, if it is there.
Result<bool> drop(const Core& core, const Pass& pass) {
  auto entry = core.root->look(kGuard);
  if (!entry) return fail(entry.error());
  if (entry->identity != pass.identity()) return false;
  return core.root->remove(kGuard);
}

// An intent that appeared: our guard must go. Whoever has it in hand at this moment puts it back before it withdraws
// its intent, so it is looked for until then.
Result<void> back_out(const Core& core, const Pass& pass, Pause& pause) {
  for (;;) {
    auto dropped = drop(core, pass);
    if (!dropped) return fail(dropped.error());
    if (*dropped) return {};
    auto intents = intents_in_the_way(core);
    if (!intents) return fail(intents.error());
    if (intents->kind != Kind::busy) break;
    auto slept = pause.sleep();
    if (!slept) return fail(slept.error());
    if (!*slept) break;
  }
  auto dropped = drop(core, pass);
  if (!dropped) return fail(dropped.error());
  return {};
}

Result<InTheWay> another_thread(const Core& core) {
  InTheWay way{.kind = Kind::busy};
  way.error = {Code::section_busy, "another thread of this process has the guard of " + core.root->path(), "try again",
               nullptr};
  return way;
}

// The name is taken: by whom? A stale one is moved out of the way.
Result<InTheWay> meet(const Core& core, const Pass& pass) {
  auto way = guard_in_the_way(core);
  if (!way) return fail(way.error());
  // Ours, though no thread of ours is inside: it could not be removed when it should have been.
  if (way->identity == pass.identity()) {
    if (auto dropped = drop(core, pass); !dropped) return fail(dropped.error());
    return changed(core);
  }
  if (way->kind == Kind::stale) {
    if (auto reclaimed = reclaim_guard(core, pass); !reclaimed) return fail(reclaimed.error());
  }
  if (way->kind == Kind::busy || way->kind == Kind::unverifiable) return way;
  return changed(core);
}

// One try to be the one inside; `nothing` says that we are.
Result<InTheWay> try_once(const Core& core, const Pass& pass, Pause& pause) {
  auto way = intents_in_the_way(core);
  if (!way || way->kind != Kind::nothing) return way;
  auto linked = pass.folder->link(pass.name, *core.root, kGuard);
  if (!linked) return fail(linked.error());
  if (!*linked) return meet(core, pass);
  way = intents_in_the_way(core);
  if (way && way->kind == Kind::nothing) {
    auto entry = core.root->look(kGuard);
    if (entry && entry->identity == pass.identity()) return way;
    // A reclaimer took it for the stale one, and died before it could put it back.
    if (entry) return changed(core);
    way = fail(entry.error());
  }
  if (auto gone = back_out(core, pass, pause); !gone) return fail(gone.error());
  return way;
}

}  // namespace

Result<InTheWay> guard_in_the_way(const Core& core) {
  return judge_file(core, *core.root, kGuard, "the guard");
}

Result<InTheWay> intents_in_the_way(const Core& core, bool only_look) {
  auto folder = core.root->open_folder(kReclaims);
  if (!folder) return fail(folder.error());
  if (*folder == nullptr) return InTheWay{};
  auto names = (*folder)->list(kMostIntents);
  if (!names) return fail(names.error());
  InTheWay worst;
  for (const std::string& name : *names) {
    if (!is_intent(name)) continue;
    auto way = judge_file(core, **folder, name, "the reclaiming of a stale guard");
    if (!way) return fail(way.error());
    if (way->kind == Kind::unverifiable) return way;
    if (way->kind == Kind::busy || way->kind == Kind::changed) {
      worst = std::move(*way);
      continue;
    }
    if (way->kind != Kind::stale || only_look) continue;
    if (auto removed = (*folder)->remove(name); !removed) return fail(removed.error());
  }
  return worst;
}

Result<Guard> Guard::enter(const Core& core, const Pass& pass, const Bound& bound) {
  Pause pause(core, bound);
  bool first = false;  // of the threads of this process
  const auto failed = [&](Error error) -> Result<Guard> {
    if (first) pass.turn->give_back();
    return fail(std::move(error));
  };
  for (int attempt = 1;; ++attempt) {
    first = first || pass.turn->take();
    auto way = first ? try_once(core, pass, pause) : another_thread(core);
    if (!way) return failed(way.error());
    if (way->kind == Kind::nothing) return Guard(core, pass);
    if (way->kind == Kind::unverifiable) return failed(way->error);
    // What has just been moved out of the way is no reason to give up, however late it is.
    if (way->kind == Kind::changed && attempt < kHasty) continue;
    if (bound.over(core)) return failed(over(bound, std::move(way->error)));
    if (!first) {
      pass.turn->wait();
      continue;
    }
    if (auto slept = pause.sleep(); !slept) return failed(slept.error());
  }
}

Guard::Guard(Guard&& other) noexcept : core_(std::exchange(other.core_, nullptr)), pass_(other.pass_) {}

Guard::~Guard() {
  if (core_ != nullptr) (void)leave();
}

Result<bool> Guard::leave() {
  auto dropped = drop(*std::exchange(core_, nullptr), *pass_);
  pass_->turn->give_back();
  return dropped;
}

}  // namespace tenure::receiver
