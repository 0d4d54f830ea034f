// Waiting for the receiver, and telling of its changes.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace tenure::receiver {

class Store;

Result<Grant> await(Store& store, const ClaimRequest& request, const Wait& wait);
Result<std::unique_ptr<Changes>> watch_receiver(Store& store);

}  // namespace tenure::receiver
