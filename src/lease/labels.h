// The default labels of a claimant.
#pragma once

#include <string>

#include "env/random.h"
#include "tenure/error.h"

namespace tenure::lease {

// A fresh random id of this process, the same for all its claims, another one in a forked child. Thread-safe.
Result<std::string> process_label(env::Random& random);
// A fresh random id.
Result<std::string> fresh_label(env::Random& random);

}  // namespace tenure::lease
