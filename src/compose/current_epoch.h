// Whether a key is held under an epoch now, for those who know the epoch and have no handle.
#pragma once

#include "tenure/space.h"

namespace tenure::compose {

// Code::lost, Code::expired, Code::damaged as rules/fence.h has them; else what the look into the space ends with.
Result<void> check_current(const Space& space, const Key& key, Epoch epoch);

}  // namespace tenure::compose
