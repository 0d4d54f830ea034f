// One run of a program, from the spawn to its end.
#pragma once

#include <string>
#include <vector>

namespace tenure::bench {

// Its output is thrown away, its complaints are not. Anything but exit code 0 ends the measurement.
void run_program(const std::vector<std::string>& words);

}  // namespace tenure::bench
