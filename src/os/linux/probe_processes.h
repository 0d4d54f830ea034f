// Probes of what can be seen of processes from here, and of what is put on this one.
#pragma once

#include "os/linux/probe.h"

namespace tenure::os {

Probe probe_proc();
Probe probe_proc_locks();
Probe probe_pid_namespace();
Probe probe_time_namespace();
Probe probe_user_namespace();
Probe probe_seccomp();
Probe probe_tracing();
Probe probe_descriptors();
Probe probe_process_limit();

}  // namespace tenure::os
