// Spaces as things with a place (spaces.h): what of it is particular to local: and system: spaces. They are made, moved
// and purged while nobody is in: whoever has one open holds a lock that keeps the operator out, and the other way
// round.
#pragma once

#include "compose/space_url.h"
#include "compose/spaces.h"

namespace tenure::compose::local_spaces {

// All of them take the URL settled.
bool exists(const SpaceUrl& url);
// Into `info`: who is in, what is held, how much room there is.
void describe(SpaceInfo& info, const SpaceUrl& url);
Result<InitOutcome> init(const SpaceUrl& url, const SpaceLimits& limits);
Result<MoveOutcome> move(const SpaceUrl& from, const std::string& to);
Result<PurgeOutcome> purge(const SpaceUrl& url, bool force);
Result<RepairOutcome> repair(const SpaceUrl& url, const std::string& reason);

}  // namespace tenure::compose::local_spaces
