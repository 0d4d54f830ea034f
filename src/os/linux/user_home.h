// The home of the effective user as the password database has it, and what the environment says instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tenure::os {

struct UserHome {
  std::uint32_t user = 0;
  std::string folder;   // empty: the database has none
  bool usable = false;  // an existing folder that the user may write to
  std::string why_not;  // when it is not usable
};

// Asks the password database, as password_entry.h says.
UserHome user_home();

// An environment variable; nullopt when unset or empty.
std::optional<std::string> variable(const char* name);

// The working directory, or empty when it cannot be had.
std::string working_directory();

}  // namespace tenure::os
