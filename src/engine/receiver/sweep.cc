// Clearing away what the dead left behind, a few things at a time.
//
// Inside the guard, where nobody of pi-amq makes or deletes a lease: whatever it left in the making is nobody's. Ours
// are made before the guard is taken; the lock of their pass tells whether their maker lives, once there is one: the
// first minute is theirs, and whoever was stopped for longer in between makes its claim anew. What is written under the
// guard to take the place of another file is nobody's for the same reason. Evidence is kept, but not for ever: the
// newest 64.
#include <algorithm>

#include "base/limits.h"
#include "engine/receiver/store.h"

namespace tenure::receiver {
namespace {

constexpr std::size_t kMostNames = 10'000;  // of a namespace; one with more is left alone
constexpr std::size_t kAtOnce = 16;
constexpr std::size_t kEvidence = 64;
constexpr Duration kSettled = std::chrono::minutes(1);

// Of a folder whose pass is locked, somebody lives.
bool somebody_in(env::Directory& parent, const std::string& name) {
  auto folder = parent.open_folder(name);
  if (!folder || *folder == nullptr) return !folder;
  return (*folder)->probe_life(kLife, std::nullopt).sight == LifeSight::held;
}

// What was made a moment ago is perhaps not locked yet.
bool is_settled(const Core& core, const std::string& name) {
  auto entry = core.root->look(name);
  return entry && core.clock().wall() - entry->modified > kSettled;
}

bool is_leftover(const Core& core, const std::string& name) {
  if (name == kRevokedNew || name == kEpochsNew) return true;
  if (is_guard_draft(name) || is_taken_guard(name)) {
    return core.root->probe_life(name, std::nullopt).sight == LifeSight::free && is_settled(core, name);
  }
  if (is_own_prepared(name)) return !somebody_in(*core.root, name) && is_settled(core, name);
  return (is_prepared(name) || is_released(name)) && !somebody_in(*core.root, name);
}

bool clear(env::Directory& parent, const std::string& name) {
  auto entry = parent.look(name);
  if (!entry || entry->kind == env::EntryKind::absent) return false;
  if (entry->kind == env::EntryKind::folder) return remove_folder(parent, name).has_value();
  return parent.remove(name).value_or(false);
}

void sweep_root(const Core& core) {
  auto names = core.root->list(kMostNames);
  if (!names) return;
  std::size_t cleared = 0;
  for (const std::string& name : *names) {
    if (cleared == kAtOnce) return;
    if (is_leftover(core, name) && clear(*core.root, name)) ++cleared;
  }
}

// The oldest of what both of us put there; what else lies in the folder is not ours to judge.
void sweep_evidence(const Core& core) {
  auto folder = core.root->open_folder(kQuarantine);
  if (!folder || *folder == nullptr) return;
  auto names = (*folder)->list(kMostNames);
  if (!names) return;
  std::vector<std::pair<WallTime, std::string>> kept;
  for (std::string& name : *names) {
    if (!is_quarantined(name)) continue;
    const auto moved = moved_at(name);
    if (moved) kept.emplace_back(*moved, std::move(name));
  }
  if (kept.size() <= kEvidence) return;
  const std::size_t excess = std::min(kept.size() - kEvidence, kAtOnce);
  std::partial_sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(excess), kept.end());
  for (std::size_t i = 0; i < excess; ++i) {
    if (!somebody_in(**folder, kept[i].second)) (void)clear(**folder, kept[i].second);
  }
}

}  // namespace

void sweep(const Core& core) {
  sweep_root(core);
  sweep_evidence(core);
}

}  // namespace tenure::receiver
