// Probes of a local: or system: space itself: its ceiling, and who is in.
#pragma once

#include <vector>

#include "compose/space_url.h"
#include "os/linux/probe.h"

namespace tenure::compose {

// "ceiling" and "members". The folder is there.
std::vector<os::Probe> probe_local_space(const SpaceUrl& url);

}  // namespace tenure::compose
