// Who may take a key.
#include <algorithm>

#include "rules/liveness.h"
#include "rules/ownership.h"

namespace tenure::rules {
namespace {

using Answer = ClaimVerdict::Answer;

// An age equal to its bound is still fresh; this much later it is not. AgentMux's stamps have milliseconds.
constexpr Duration kJustPast = std::chrono::milliseconds(1);

// Wall time decides only where AgentMux's rule was asked for.
bool counts(Expiry policy, const Age& age) {
  switch (age.basis) {
    case Age::Basis::monotonic:
    case Age::Basis::observed:
      return true;
    case Age::Basis::wall:
      return policy == Expiry::age;
    case Age::Basis::unknown:
      break;
  }
  return false;
}

bool past(Expiry policy, const Age& age, Duration bound) {
  return counts(policy, age) && age.value > bound;
}

// When it will be past its bound, if time alone brings that about.
std::optional<Duration> until_past(Expiry policy, const Age& age, Duration bound) {
  if (!counts(policy, age)) return std::nullopt;
  return std::max(bound - age.value, Duration{0}) + kJustPast;
}

std::optional<Duration> sooner(std::optional<Duration> a, std::optional<Duration> b) {
  if (!a) return b;
  return b ? std::min(*a, *b) : a;
}

bool past_hard_ttl(Expiry policy, const Occupant& occupant) {
  return occupant.hard_ttl && past(policy, occupant.since_extension, *occupant.hard_ttl);
}

std::optional<Duration> until_hard_ttl(Expiry policy, const Occupant& occupant) {
  if (!occupant.hard_ttl) return std::nullopt;
  return until_past(policy, occupant.since_extension, *occupant.hard_ttl);
}

ClaimVerdict over_hard_ttl(const Occupant& occupant) {
  return {Answer::over_expired, "its holder asked for " + words(*occupant.hard_ttl) + " and did not renew", {}};
}

ClaimVerdict over_dead(const Occupant& occupant) {
  return {Answer::over_dead, "its holder is dead: " + occupant.verdict.evidence, {}};
}

std::string silence_words(const Occupant& occupant) {
  return "silent for " + words(occupant.silence.value) + " of " + words(occupant.silence_bound);
}

// AgentMux's table: older than the TTL is free, alive or not; younger is held unless dead. It never asks whether the
// claimant's own process is dead.
ClaimVerdict decide_by_age(const Occupant& occupant, bool own) {
  if (occupant.verdict.liveness == Liveness::dead && !own) return over_dead(occupant);
  if (past(Expiry::age, occupant.silence, occupant.silence_bound)) {
    return {Answer::over_expired, "its holder was " + silence_words(occupant), {}};
  }
  if (past_hard_ttl(Expiry::age, occupant)) return over_hard_ttl(occupant);
  return {
      Answer::held, "its holder renewed within " + words(occupant.silence_bound),
      sooner(until_past(Expiry::age, occupant.silence, occupant.silence_bound), until_hard_ttl(Expiry::age, occupant))};
}

// Dead needs proof; a limit that the holder set for itself needs none; silence counts only where nothing is proven.
ClaimVerdict decide_by_proof(const Occupant& occupant) {
  if (occupant.verdict.liveness == Liveness::dead) return over_dead(occupant);
  if (past_hard_ttl(Expiry::proof, occupant)) return over_hard_ttl(occupant);
  const std::string& evidence = occupant.verdict.evidence;
  const auto hard = until_hard_ttl(Expiry::proof, occupant);
  if (occupant.verdict.liveness == Liveness::live) return {Answer::held, "its holder is alive: " + evidence, hard};

  const std::string doubt = "it is not known whether its holder lives (" + evidence + ")";
  if (past(Expiry::proof, occupant.silence, occupant.silence_bound)) {
    return {Answer::over_expired, doubt + ", and it was " + silence_words(occupant), {}};
  }
  if (!counts(Expiry::proof, occupant.silence)) {
    return {Answer::held, doubt + ", nor for how long it was silent", hard};
  }
  return {Answer::held, doubt + ", and it was " + silence_words(occupant),
          sooner(until_past(Expiry::proof, occupant.silence, occupant.silence_bound), hard)};
}

ClaimVerdict decide_over_damage(Expiry policy, const Occupant& occupant) {
  if (occupant.verdict.liveness == Liveness::live) {
    return {Answer::held, "its record is damaged, but its holder is alive: " + occupant.verdict.evidence, {}};
  }
  // Whatever else was found about it was found by reading what cannot be read: only time counts.
  if (past(policy, occupant.silence, occupant.silence_bound)) {
    return {Answer::over_damaged, "its record is damaged and unchanged for " + words(occupant.silence.value), {}};
  }
  return {Answer::held, "its record is damaged, which proves nothing about its holder",
          until_past(policy, occupant.silence, occupant.silence_bound)};
}

// Equal labels are not enough: they can be copied, inherited and guessed.
bool same_owner(const Occupant& occupant, const Claimant& claimant) {
  return occupant.owner == claimant.owner && same_process(occupant.process, claimant.process);
}

// AgentMux's oldest records name no block; by its rule they are any block's.
bool same_part(Expiry policy, const Occupant& occupant, const Claimant& claimant) {
  return occupant.part == claimant.part || (policy == Expiry::age && occupant.part.empty());
}

}  // namespace

ClaimVerdict decide_claim(Expiry policy, const Occupant& occupant, const Claimant& claimant) {
  if (occupant.kind == Occupant::Kind::nobody) return {Answer::free, "nobody holds it", {}};
  if (occupant.kind == Occupant::Kind::damaged) return decide_over_damage(policy, occupant);

  const bool own = same_owner(occupant, claimant);
  if (own && same_part(policy, occupant, claimant)) return {Answer::reclaim, "the same process and part hold it", {}};
  ClaimVerdict verdict = policy == Expiry::age ? decide_by_age(occupant, own) : decide_by_proof(occupant);
  if (own && verdict.answer == Answer::held) {
    verdict.answer = Answer::held_by_part;
    verdict.why = "another part of the same process holds it: " + occupant.part;
  }
  return verdict;
}

ClaimVerdict decide_for_stranger(Expiry policy, const Occupant& occupant) {
  return decide_claim(policy, occupant, Claimant{});
}

}  // namespace tenure::rules
