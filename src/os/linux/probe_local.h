// Probes of what the local engine stands on.
#pragma once

#include <vector>

#include "os/linux/probe.h"
#include "os/linux/probe_folder.h"

namespace tenure::os {

// Whether a table may lie there.
Probe probe_local_file_system(const ProbeFolder& folder, bool volatile_ok);
// One member joins, is seen, and is killed: by the very code of the engine.
Probe probe_member(const ProbeFolder& folder);
// One finding each: robust list, own descriptors, wiped pages.
std::vector<Probe> probe_local_features();

}  // namespace tenure::os
