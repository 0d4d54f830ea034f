// From a local: or system: URL to its folder, checked, and to a space over it.
#pragma once

#include <memory>

#include "compose/space_url.h"
#include "os/linux/local_folder.h"
#include "tenure/space.h"

namespace tenure::compose {

// The folder, opened, after those above it were checked. Of a system: space only the folder above is ever made, and
// only with `create`.
Result<std::unique_ptr<os::RealLocalFolder>> open_local_folder(const SpaceUrl& url, bool create, bool observe_only);

Result<Space> open_local_space(const SpaceUrl& url, const Space::OpenOptions& options);

}  // namespace tenure::compose
