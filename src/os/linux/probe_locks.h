// Probes of the locks and of the watch that the files engine stands on, each tried in `folder`.
#pragma once

#include <vector>

#include "os/linux/probe.h"
#include "os/linux/probe_folder.h"

namespace tenure::os {

Probe probe_flock(const ProbeFolder& folder);
// "life lock" and "watch": one holder is started, forks, and is killed.
std::vector<Probe> probe_life_and_watch(const ProbeFolder& folder);

}  // namespace tenure::os
