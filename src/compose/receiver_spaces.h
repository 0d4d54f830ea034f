// Spaces as things with a place (spaces.h): what of it is particular to receiver: spaces, whose folder is pi-amq's.
#pragma once

#include <vector>

#include "compose/space_url.h"
#include "compose/spaces.h"
#include "os/linux/probe.h"

namespace tenure::compose::receiver_spaces {

// Of a URL whose folder is absolute.
void describe(SpaceInfo& info, const SpaceUrl& url);
Result<InitOutcome> init(const SpaceUrl& url);
// The folder is pi-amq's too, so that it is not ours to move or to take away.
std::unexpected<Error> refuse(const SpaceUrl& url, const char* verb);
// What is wrong in the folder, and who else writes there.
std::vector<os::Probe> probe(const SpaceUrl& url);

}  // namespace tenure::compose::receiver_spaces
