// The outside world as it is: the only place that builds it.
#pragma once

#include <memory>
#include <string>

#include "env/environment.h"

namespace tenure::compose {

env::Environment real_environment();

// Its clock alone: nothing is asked of the system for it.
std::shared_ptr<const env::Clock> real_clock();

// "Nov 29 20:49:47", where the user lives: for people alone.
std::string local_time(WallTime at);

// The folder of our own control group of version 2; empty where none is to be seen.
std::string own_control_group_folder();

}  // namespace tenure::compose
