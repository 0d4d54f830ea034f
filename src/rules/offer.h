// What the offer of a lease to a successor means for everybody else.
#pragma once

#include "rules/ownership.h"

namespace tenure::rules {

// Whether an open offer keeps off a claimant who would get the lease by this verdict: where the holder is dead, so that
// its successor still finds it. The end of a TTL that the holder asked for is no matter of the offer.
inline bool offer_keeps_off(const ClaimVerdict& verdict, const Occupant& occupant) {
  const bool past_ttl = occupant.hard_ttl && occupant.since_extension.basis != Age::Basis::unknown &&
                        occupant.since_extension.value > *occupant.hard_ttl;
  return verdict.answer == ClaimVerdict::Answer::over_dead && !past_ttl;
}

}  // namespace tenure::rules
