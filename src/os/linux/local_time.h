// The time of day where the user lives (TZ, /etc/localtime), for people alone.
#pragma once

#include <string>

#include "tenure/time.h"

namespace tenure::os {

// "Nov 29 20:49:47": 15 characters.
std::string local_time(WallTime at);

}  // namespace tenure::os
