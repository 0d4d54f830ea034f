// Moving a stale guard away.
//
// Said before it is done (the intent), and checked after the move, at the only place where it can be: a newcomer's
// guard that took the stale one's name meanwhile is put back. Its maker sees our intent and is not inside.
#include <functional>

#include "base/limits.h"
#include "engine/receiver/guard.h"

namespace tenure::receiver {
namespace {

using Kind = InTheWay::Kind;

// The guard is in our hand, under a private name. Keeps it as evidence when it is the one that was judged, else puts it
// back.
Result<void> settle(const Core& core, const std::string& taken, const InTheWay& judged, const std::string& uuid) {
  auto entry = core.root->look(taken);
  if (!entry) return fail(entry.error());
  std::string generation = judged.generation;
  if (entry->identity != judged.identity) {
    auto back = core.root->move(taken, *core.root, kGuard);
    if (!back) return fail(back.error());
    if (*back != env::Moved::taken) return {};
    generation = "displaced";  // and yet another newcomer is there: this one's maker has backed out
  }
  auto quarantine = folder_of(core, kQuarantine);
  if (!quarantine) return fail(quarantine.error());
  auto kept = core.root->move(taken, **quarantine, quarantined_guard(generation, core.clock().wall(), uuid));
  if (!kept) return fail(kept.error());
  return {};
}

// Takes the guard in hand and looks at what it got. False: there is none any more.
Result<bool> move_away(const Core& core, const InTheWay& judged) {
  auto random = fresh_random(core);
  if (!random) return fail(random.error());
  const std::string uuid = uuid_of(*random);
  const std::string taken = taken_guard(uuid);
  auto moved = core.root->move(kGuard, *core.root, taken);
  if (!moved) return fail(moved.error());
  if (*moved == env::Moved::missing) return false;
  if (auto settled = settle(core, taken, judged, uuid); !settled) return fail(settled.error());
  return true;
}

Result<void> move_stale_ones(const Core& core) {
  for (int attempt = 0; attempt < limits::kReadAttempts; ++attempt) {
    auto judged = guard_in_the_way(core);
    if (!judged) return fail(judged.error());
    if (judged->kind != Kind::stale) return {};
    auto moved = move_away(core, *judged);
    if (!moved) return fail(moved.error());
    if (!*moved) return {};
  }
  return {};
}

Result<void> under_intent(const Core& core, const Pass& pass, const std::function<Result<void>()>& act) {
  auto folder = folder_of(core, kReclaims);
  if (!folder) return fail(folder.error());
  const std::string name = intent(pass.generation);
  auto said = pass.folder->link(pass.name, **folder, name);
  if (!said) return fail(said.error());
  if (!*said) {
    // Ours, where it could not be withdrawn the last time.
    auto entry = (*folder)->look(name);
    if (!entry || entry->identity != pass.identity()) {
      return fail(Code::section_busy, (*folder)->path() + "/" + name + " is there already", "try again");
    }
  }
  auto done = act();
  auto withdrawn = (*folder)->remove(name);
  if (!done) return done;
  if (!withdrawn) return fail(withdrawn.error());
  return {};
}

}  // namespace

Result<void> reclaim_guard(const Core& core, const Pass& pass) {
  return under_intent(core, pass, [&] { return move_stale_ones(core); });
}

Result<void> displace_guard(const Core& core, const Pass& pass, const InTheWay& judged) {
  return under_intent(core, pass, [&]() -> Result<void> {
    auto moved = move_away(core, judged);
    if (!moved) return fail(moved.error());
    return {};
  });
}

}  // namespace tenure::receiver
