// Probes of the place of a space: its folder, the file system under it, and what is left of it.
#pragma once

#include <string>

#include "os/linux/open_folder.h"
#include "os/linux/probe.h"

namespace tenure::os {

Probe probe_folder_rights(const std::string& path, FolderChecks checks);
// Whether others could put another folder in its place.
Probe probe_folder_above(const std::string& path);
Probe probe_file_system(const std::string& path);
Probe probe_room(const std::string& path);

}  // namespace tenure::os
