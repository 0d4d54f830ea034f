// The order in which several keys are claimed.
#pragma once

#include <span>
#include <vector>

#include "tenure/error.h"
#include "tenure/key.h"

namespace tenure::lease {

// The numbers of the keys, in the order of their bytes: one order for everybody, so that whoever holds one of them
// waits only for those behind it. Code::usage: no key, more than limits::kKeysAtOnce, or one of them twice.
Result<std::vector<std::size_t>> claim_order(std::span<const Key> keys);

}  // namespace tenure::lease
