// Waiting for a key of a folder, and notices of change by key.
//
// A waiter sleeps in the folder's watch. Release, takeover and revocation change the record; the death of a holder
// closes its life file, which the watch reports too, whatever namespace the holder lived in. No order among waiters is
// promised.
#pragma once

#include <memory>

#include "engine/engine.h"

namespace tenure::files {

class Store;

Result<Grant> await(Store& store, const ClaimRequest& request, const Wait& wait);
Result<std::unique_ptr<Changes>> watch_keys(Store& store);

}  // namespace tenure::files
