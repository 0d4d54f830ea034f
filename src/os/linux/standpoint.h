// Who we are and where we stand, read once.
#pragma once

#include <string>

#include "model/evidence.h"

namespace tenure::os {

Standpoint read_standpoint();

// The name of a user in the password database, or its number as text.
std::string user_name_of(std::uint32_t user);

}  // namespace tenure::os
