// Where control groups of version 2 lie, and which of them is our own.
#pragma once

#include <string>

namespace tenure::os {

// Where the hierarchy is mounted; empty if it is not, or cannot be seen.
std::string control_group_mount();

// Our own group, from the top of the hierarchy: "/" or "/user.slice/…"; empty where it lies outside of what we see.
std::string own_control_group();

// The folder of our own group; empty where there is none.
std::string own_control_group_folder();

}  // namespace tenure::os
