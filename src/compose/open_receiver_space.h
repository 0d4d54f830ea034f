// From the URL of a receiver: space to the engine over the real folder, and to its repair.
#pragma once

#include <string>
#include <vector>

#include "compose/space_url.h"
#include "engine/receiver/receiver_engine.h"
#include "tenure/space.h"

namespace tenure::compose {

// Errors as of Space::open().
Result<Space> open_receiver_space(SpaceUrl url, const Space::OpenOptions& options);

// As repair_receiver(). Code::unsupported for a space of another engine.
Result<std::vector<ReceiverFault>> repair_receiver_space(const std::string& url, bool mend, bool force,
                                                         const std::string& reason);

}  // namespace tenure::compose
