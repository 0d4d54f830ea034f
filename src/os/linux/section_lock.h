// The short mutual exclusion of a key: flock(2) on a file, with a bound.
#pragma once

#include <memory>
#include <string>

#include "env/directory.h"
#include "os/linux/folder.h"

namespace tenure::os {

// As env::Directory::lock. `folder` must outlive the lock.
Result<std::unique_ptr<env::SectionLock>> lock_section(const Folder& folder, const std::string& name, Duration at_most,
                                                       const Stop* stop);

}  // namespace tenure::os
