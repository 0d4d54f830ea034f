// Whether a claim is still the current one.
#include <algorithm>

#include "rules/ownership.h"

namespace tenure::rules {
namespace {

using Answer = CurrentVerdict::Answer;

bool stands_at(const EpochSource& source, Epoch epoch) {
  return source.reading == EpochSource::Reading::value && source.epoch == epoch;
}

Epoch value_of(const EpochSource& source) {
  const bool usable = source.reading == EpochSource::Reading::value && source.epoch.credible();
  return usable ? source.epoch : Epoch{};
}

CurrentVerdict judge_own_record(const CurrentFacts& facts, Epoch epoch) {
  if (facts.record_epoch != epoch) {
    return {Answer::lost, "the record of this claim says epoch " + facts.record_epoch.text() + ", not " + epoch.text(),
            Duration{0}};
  }
  if (facts.hard_ttl && facts.since_extension > *facts.hard_ttl) {
    const Duration late_by = facts.since_extension - *facts.hard_ttl;
    return {Answer::late, "past its TTL by " + words(late_by) + ", and nobody took it", late_by};
  }
  return {Answer::current, "the record is of this claim", Duration{0}};
}

CurrentVerdict judge_other_record(const CurrentFacts& facts, Epoch epoch) {
  const Epoch now = facts.record_epoch;
  if (now.none()) return {Answer::lost, "it is held by somebody whose record carries no epoch", Duration{0}};
  if (now == epoch) {
    return {Answer::lost, "another claim has it, under the same epoch " + now.text(), Duration{0}};
  }
  return {Answer::lost, "it is held by another claim under epoch " + now.text(), Duration{0}};
}

// No record can be read. Each grant to another, AgentMux's included, raises the counter: where it still stands at our
// epoch, and our own note says that we did not give back, nobody was there but a cleaner or a bad disk.
CurrentVerdict judge_without_record(const CurrentFacts& facts, Epoch epoch) {
  const bool damaged = facts.kind == Occupant::Kind::damaged;
  const std::string what = damaged ? "its record is damaged" : "its record is gone";
  const Epoch newest = std::max(value_of(facts.counter), value_of(facts.note));
  if (newest > epoch) {
    return {Answer::lost, what + ", and epoch " + newest.text() + " was granted since", Duration{0}};
  }
  const bool both_ours = !epoch.none() && stands_at(facts.counter, epoch) && stands_at(facts.note, epoch);
  if (both_ours && facts.note_says_held) {
    return {Answer::restore, what + ", and nobody was granted the key since", Duration{0}};
  }
  if (damaged) return {Answer::lost, what + ", and nothing proves that it was this claim's", Duration{0}};
  if (stands_at(facts.note, epoch) && !facts.note_says_held) {
    return {Answer::gone, "it was given back or revoked", Duration{0}};
  }
  return {Answer::gone, what + ", and nothing proves that nobody else had the key since", Duration{0}};
}

}  // namespace

CurrentVerdict decide_current(const CurrentFacts& facts, const ClaimId& mine, Epoch epoch) {
  if (facts.kind != Occupant::Kind::holder) return judge_without_record(facts, epoch);
  if (!mine.none() && facts.claim == mine) return judge_own_record(facts, epoch);
  return judge_other_record(facts, epoch);
}

}  // namespace tenure::rules
