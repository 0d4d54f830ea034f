#include "cli/clear_dead.h"

#include <algorithm>

namespace tenure::cli {
namespace {

// Somebody came, or went, between the look and the act.
bool changed_meanwhile(Code code) {
  return code == Code::epoch_changed || code == Code::not_held || code == Code::holder_live || code == Code::damaged;
}

// The leases of the dead, each as if it were the only one of its key.
std::vector<Observation> dead_ones(const Observation& seen) {
  std::vector<Observation> dead;
  if (seen.state != State::held) return dead;
  // What one of them had offered waits for the successor.
  const auto offered = [&seen](Epoch epoch) { return seen.offer && seen.epoch == epoch; };
  if (seen.together.empty()) {
    if (seen.verdict.liveness == Liveness::dead && !offered(seen.epoch)) dead.push_back(seen);
    return dead;
  }
  for (const Companion& each : seen.together) {
    if (each.verdict.liveness != Liveness::dead || offered(each.epoch)) continue;
    Observation one = seen;
    one.holder = each.holder;
    one.epoch = each.epoch;
    one.verdict = each.verdict;
    one.together.clear();
    one.holders = 1;
    dead.push_back(std::move(one));
  }
  return dead;
}

bool living_one(const Observation& seen) {
  if (seen.together.empty()) return seen.verdict.liveness != Liveness::dead;
  return std::ranges::any_of(seen.together,
                             [](const Companion& each) { return each.verdict.liveness != Liveness::dead; });
}

}  // namespace

bool held_by_dead(const Observation& seen) {
  return !dead_ones(seen).empty();
}

Clearance clear_dead(const Space& space, const std::vector<Observation>& seen, const std::string& reason) {
  Clearance clearance;
  for (const Observation& key : seen) {
    if (living_one(key)) ++clearance.left;
    for (Observation& each : dead_ones(key)) {
      auto was = space.revoke(each.key, {.reason = reason, .force = false, .only_epoch = each.epoch});
      if (was) {
        clearance.cleared.push_back(std::move(each));
      } else if (changed_meanwhile(was.error().code)) {
        ++clearance.left;
      } else {
        clearance.failed.emplace_back(each.key, was.error());
      }
    }
  }
  return clearance;
}

}  // namespace tenure::cli
