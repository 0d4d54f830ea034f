// Probes: what `tenure doctor` finds out about this machine. Each one really tries the thing, where the space lies, in
// a folder of its own that is removed again; nothing stays behind. No probe hangs, and a probe that fails is a finding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/linux/probe.h"

namespace tenure::compose {

// One promise of the system, tried: name, finding (good, limited, bad), promise, evidence, remedy.
using Probe = os::Probe;

// "good", "limited", "bad".
std::string_view word_of(Probe::Finding finding);

// All probes, in the order in which they are to be read: the place of the space, its file system, processes, kernel,
// clocks, limits, others in the folder. Takes a few seconds at most. A URL that is none is a finding too; where the
// folder is not there yet, the nearest one above it is tried. An empty URL is the default space.
std::vector<Probe> probe_all(const std::string& space_url);

}  // namespace tenure::compose
