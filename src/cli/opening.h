// Which space a command works on, and the key it is about.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "tenure/space.h"

namespace tenure::cli {

// --space, else TENURE_SPACE, else the user's own.
std::string chosen_url(const Arguments& arguments);
// " --space URL" as it was given, for suggested commands; empty where it was not.
std::string space_option(const Arguments& arguments);
Result<Space> open_chosen(const Arguments& arguments);
// To act on what is held there already. A space that somebody named must be there.
Result<Space> open_present(const Arguments& arguments);
// For looking only: changes nothing, and the user's own space is empty where it was never used.
Result<Space> open_to_look(const Arguments& arguments);
// Code::usage where there is none.
Result<Key> key_of(const Arguments& arguments);

}  // namespace tenure::cli
