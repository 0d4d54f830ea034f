#include "cli/clear_dead.h"

namespace tenure::cli {
namespace {

// Somebody came, or went, between the look and the act.
bool changed_meanwhile(Code code) {
  return code == Code::epoch_changed || code == Code::not_held || code == Code::holder_live || code == Code::damaged;
}

}  // namespace

bool held_by_dead(const Observation& seen) {
  return seen.state == State::held && seen.verdict.liveness == Liveness::dead;
}

Clearance clear_dead(const Space& space, const std::vector<Observation>& seen, const std::string& reason) {
  Clearance clearance;
  for (const Observation& each : seen) {
    if (!held_by_dead(each)) {
      ++clearance.left;
      continue;
    }
    auto was = space.revoke(each.key, {.reason = reason, .force = false, .only_epoch = each.epoch});
    if (was) {
      clearance.cleared.push_back(std::move(*was));
    } else if (changed_meanwhile(was.error().code)) {
      ++clearance.left;
    } else {
      clearance.failed.emplace_back(each.key, was.error());
    }
  }
  return clearance;
}

}  // namespace tenure::cli
