// Hints that something in a folder changed: inotify(7), or a bounded poll where no instance can be had.
#pragma once

#include <memory>

#include "env/directory.h"
#include "os/linux/folder.h"

namespace tenure::os {

// Never fails for want of an instance or a watch: then every wait ends after limits::kWatchPoll with `everything`.
std::unique_ptr<env::Watch> watch_folder(const Folder& folder);

}  // namespace tenure::os
