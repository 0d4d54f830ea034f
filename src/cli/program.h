// The program: finds the command, runs it, shows its error.
#pragma once

namespace tenure::cli {

int run_program(int count, char** arguments);

}  // namespace tenure::cli
