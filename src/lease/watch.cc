// Space::watch: turns hints of change into the new standing of each key that really changed.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "lease/space_state.h"
#include "tenure/space.h"

namespace tenure {
namespace {

constexpr Duration kLookAnyway = std::chrono::seconds(2);

// What makes one standing differ from another for a watcher: signs of life do not.
using Mark = std::tuple<State, Epoch, Liveness, std::string, std::string, std::int64_t, std::string>;

// Who asks, who else holds it, and to whom it is offered.
std::string others(const Observation& seen) {
  std::string out;
  for (const Ask& ask : seen.asks) out += std::to_string(ask.id) + " ";
  for (const Companion& each : seen.together) out += each.epoch.text() + (each.over ? "- " : "+ ");
  if (seen.offer) out += std::to_string(seen.offer->since.milliseconds()) + seen.offer->to;
  return out;
}

Mark mark_of(const Observation& seen) {
  if (!seen.holder) return {seen.state, seen.epoch, seen.verdict.liveness, "", "", 0, ""};
  return {seen.state,         seen.epoch,        seen.verdict.liveness,
          seen.holder->owner, seen.holder->part, seen.holder->since.milliseconds(),
          others(seen)};
}

class Watcher {
 public:
  Watcher(Engine& engine, std::string prefix, const std::function<bool(const Observation&)>& on_change)
      : engine_(engine), prefix_(std::move(prefix)), on_change_(on_change) {}

  // False: the caller has seen enough.
  Result<bool> look_at_all() {
    auto all = engine_.list(prefix_);
    if (!all) return fail(all.error());
    std::set<Key> gone;
    for (const auto& [key, mark] : known_) gone.insert(key);
    for (const Observation& each : *all) {
      gone.erase(each.key);
      if (!report(each)) return false;
    }
    return look_at(std::vector<Key>(gone.begin(), gone.end()));
  }

  Result<bool> look_at(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      if (!key.text().starts_with(prefix_)) continue;
      auto seen = engine_.holder(key);
      if (!seen) return fail(seen.error());
      if (!report(*seen)) return false;
    }
    return true;
  }

 private:
  bool report(const Observation& seen) {
    const auto found = known_.find(seen.key);
    const Mark mark = mark_of(seen);
    if (seen.state == State::free) {
      if (found == known_.end()) return true;
      known_.erase(found);
      return on_change_(seen);
    }
    if (found != known_.end() && found->second == mark) return true;
    known_.insert_or_assign(seen.key, mark);
    return on_change_(seen);
  }

  Engine& engine_;
  const std::string prefix_;
  const std::function<bool(const Observation&)>& on_change_;
  std::map<Key, Mark> known_;  // held or damaged keys alone: bounded by what the space holds
};

}  // namespace

Result<void> Space::watch(const std::string& prefix, const Stop& stop,
                          const std::function<bool(const Observation&)>& on_change) const {
  auto changes = state_->engine().changes();
  if (!changes) return fail(changes.error());
  Watcher watcher(state_->engine(), prefix, on_change);
  auto goes_on = watcher.look_at_all();
  while (goes_on && *goes_on && !stop.requested()) {
    auto seen = (*changes)->wait(kLookAnyway, &stop);
    if (!seen) return fail(seen.error());
    if (stop.requested()) break;
    // Deaths leave no trace where nobody waits: so all is looked at when nothing was reported for a while.
    const bool all = seen->everything || seen->keys.empty();
    goes_on = all ? watcher.look_at_all() : watcher.look_at(seen->keys);
  }
  if (!goes_on) return fail(goes_on.error());
  return {};
}

}  // namespace tenure
