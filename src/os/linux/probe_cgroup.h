// Probe of control groups: how surely a command can be ended with all that it started.
#pragma once

#include "os/linux/probe.h"

namespace tenure::os {

Probe probe_control_group();

}  // namespace tenure::os
