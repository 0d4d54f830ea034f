// Probes of what the engines of a folder do to files, each tried in `folder`, a ProbeFolder.
#pragma once

#include <string>
#include <vector>

#include "os/linux/probe.h"
#include "os/linux/probe_folder.h"

namespace tenure::os {

Probe probe_overwrite(const ProbeFolder& folder);
Probe probe_replace(const ProbeFolder& folder);
Probe probe_second_name(const ProbeFolder& folder);
Probe probe_rename_flags(const ProbeFolder& folder);
Probe probe_unnamed_file(const ProbeFolder& folder);
Probe probe_sync(const ProbeFolder& folder);

}  // namespace tenure::os
