#include "engine/memory/viewer.h"

#include <algorithm>

#include "rules/liveness.h"
#include "rules/offer.h"
#include "rules/sharing.h"

namespace tenure::memory {

Verdict Viewer::judge(const ProcessIdentity& process) const {
  const env::Processes& processes = *environment_.processes;
  return rules::judge_process(process, processes.look(process.pid), processes.self());
}

Verdict Viewer::judge(const Holding& holding) const {
  rules::Testimony testimony;
  testimony.keeper = judge(holding.holder.process);
  if (holding.holder.owner_process) testimony.owner = judge(*holding.holder.owner_process);
  testimony.same_boot = holding.holder.process.boot_id == environment_.processes->self().identity.boot_id;
  return rules::judge_lease(testimony);
}

// Two stamps can be compared only on one kernel's clock.
rules::Age Viewer::since_extension(const Holding& holding) const {
  const ProcessIdentity& theirs = holding.holder.process;
  const ProcessIdentity& ours = environment_.processes->self().identity;
  if (theirs.boot_id != ours.boot_id || theirs.time_namespace != ours.time_namespace) return {};
  const Duration age = environment_.clock->monotonic() - holding.extended_monotonic;
  return {rules::Age::Basis::monotonic, std::max(age, Duration{0})};
}

rules::Occupant Viewer::occupant(const Holding& holding) const {
  rules::Occupant occupant;
  occupant.kind = rules::Occupant::Kind::holder;
  occupant.owner = holding.holder.owner;
  occupant.part = holding.holder.part;
  occupant.process = holding.holder.process;
  occupant.verdict = judge(holding);
  // No sign of life is asked for here, so silence says nothing: its age stays unknown.
  occupant.hard_ttl = holding.terms.ttl;
  occupant.since_extension = since_extension(holding);
  return occupant;
}

Observation Viewer::observe(const Key& key, const Holding& holding) const {
  const rules::Occupant seen = occupant(holding);
  const rules::ClaimVerdict stranger = rules::decide_for_stranger(rules::Expiry::proof, seen);
  Observation observation{.key = key};
  observation.state = State::held;
  observation.holders = 1;
  observation.epoch = holding.epoch;
  observation.holder = holding.holder;
  observation.verdict = seen.verdict;
  observation.claimable = stranger.granted() && !guarded(holding);
  observation.why = stranger.granted() && guarded(holding) ? "an operation runs under its guard" : stranger.why;
  observation.frees_in = stranger.frees_in;
  if (back_to_line(holding)) {
    observation.claimable = true;
    observation.why = not_adopted(holding);
  } else if (offered(holding) && rules::offer_keeps_off(stranger, seen)) {
    observation.claimable = false;
    observation.why = "it is offered to " + holding.offer->offer.to;
  }
  if (offered(holding)) {
    observation.offer = holding.offer->offer;
    const bool frees = seen.verdict.liveness == Liveness::dead || observation.offer->back == Back::line;
    if (frees) observation.frees_in = holding.offer->until - environment_.clock->monotonic();
  }
  for (const Asker* asker : holding.asks) {
    if (asking(*asker)) observation.asks.push_back(asker->ask);
  }
  return observation;
}

Observation Viewer::observe(const Key& key, const Slot& slot) const {
  if (slot.holdings.empty()) {
    Observation observation{.key = key};
    observation.claimable = slot.line.empty();
    observation.why = slot.line.empty() ? "nobody holds it" : std::to_string(slot.line.size()) + " wait in line before";
    return observation;
  }
  Observation observation = observe(key, slot.holdings.front());
  if (!rules::together(slot.holdings.front().terms)) return observation;
  for (const Holding& holding : slot.holdings) {
    const Observation one = observe(key, holding);
    // Shown is the first that is not over, if there is one.
    if (observation.claimable && !one.claimable) {
      std::vector<Companion> before = std::move(observation.together);
      observation = one;
      observation.together = std::move(before);
    }
    observation.together.push_back({holding.holder, holding.epoch, one.verdict, one.claimable, one.why});
  }
  observation.holders = static_cast<std::uint32_t>(slot.holdings.size());
  observation.why = observation.claimable ? "of those who have it, all are gone or past their TTL"
                                          : rules::words_of_holders(slot.holdings.front().terms, slot.holdings.size());
  return observation;
}

bool Viewer::guarded(const Holding& holding) const {
  return guard_stands(holding) && environment_.clock->monotonic() <= holding.guard->until;
}

bool Viewer::past_guard(const Holding& holding) const {
  return guard_stands(holding) && environment_.clock->monotonic() > holding.guard->until;
}

bool Viewer::guard_stands(const Holding& holding) const {
  return holding.guard && judge(holding.guard->by).liveness != Liveness::dead;
}

bool Viewer::same_clock(const OpenOffer& offer) const {
  return offer.time_namespace == environment_.processes->self().identity.time_namespace;
}

bool Viewer::offered(const Holding& holding) const {
  return holding.offer && same_clock(*holding.offer) && environment_.clock->monotonic() < holding.offer->until;
}

bool Viewer::back_to_line(const Holding& holding) const {
  return holding.offer && holding.offer->offer.back == Back::line && same_clock(*holding.offer) &&
         environment_.clock->monotonic() >= holding.offer->until && !guarded(holding);
}

std::string Viewer::not_adopted(const Holding& holding) {
  return "it was offered to " + holding.offer->offer.to + ", who did not adopt it in time";
}

bool Viewer::asking(const Asker& asker) const {
  return asker.environment.clock->monotonic() < asker.until && judge(asker.ask.process).liveness != Liveness::dead;
}

}  // namespace tenure::memory
