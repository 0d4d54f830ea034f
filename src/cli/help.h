// The texts of --help, made from the tables.
#pragma once

#include <string>

#include "cli/command.h"

namespace tenure::cli {

std::string program_help();
std::string command_help(const Command& command);

}  // namespace tenure::cli
