// Probes of the kernel, its features, its names for this boot and machine, its clocks and its random bytes.
#pragma once

#include <vector>

#include "os/linux/probe.h"

namespace tenure::os {

Probe probe_kernel_version();
// One finding each: pidfd_open, close_range, futex_waitv, open-file-description locks, subreaper. Each is tried in a
// child, since a filter may kill whoever calls.
std::vector<Probe> probe_kernel_features();
Probe probe_boot_id();
Probe probe_machine_id();
Probe probe_clocks();
Probe probe_wall_clock();
Probe probe_randomness();

}  // namespace tenure::os
