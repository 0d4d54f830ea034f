// The outside world as it is: the only place that builds it.
#pragma once

#include "env/environment.h"

namespace tenure::compose {

env::Environment real_environment();

}  // namespace tenure::compose
