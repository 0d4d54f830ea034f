// What run and claim have in common: the wishes of the command line as ClaimOptions.
#pragma once

#include "cli/arguments.h"
#include "tenure/space.h"

namespace tenure::cli {

// `otherwise` is the wait where --wait is not given; nullopt: for ever. "--wait forever" is understood.
Result<ClaimOptions> claim_options(const Arguments& arguments, std::optional<Duration> otherwise);

// What --on-lost wants to have run, where it is none of its words; else empty.
std::string loss_command(const Arguments& arguments);

// Of an adoption that does not say as whom.
Error owner_is_missing(const Key& key);

// Names a reason to whoever meets the wait: heading and fields as text, or one line of JSON with "event": "waiting".
std::string waiting_message(const Observation& seen, const Space& space, std::optional<Duration> wait, bool json);

// Remarks about a grant, for standard error: who was displaced, what was repaired. Empty where there are none.
std::string grant_message(const Lease& lease, const Space& space, bool json);

}  // namespace tenure::cli
