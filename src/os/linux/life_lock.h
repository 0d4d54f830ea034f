// The proof of life: see env::LifeLock. How the lock comes to live exactly as long as the address space: an
// open-file-description lock belongs to the open file, a mapping keeps the open file, MADV_DONTFORK keeps the mapping
// from children, and closing the descriptor leaves nothing else that could carry it away.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "env/directory.h"
#include "os/linux/folder.h"

namespace tenure::os {

// As env::Directory::take_life.
Result<std::unique_ptr<env::LifeLock>> take_life_lock(const Folder& folder, const std::string& name,
                                                      const std::string& temporary, bool fresh, bool keep_descriptor);

// As env::Directory::probe_life.
env::LifeProbe probe_life_lock(const Folder& folder, const std::string& name, std::optional<FileIdentity> expected);

}  // namespace tenure::os
