// The two streams of the program. Lines are written whole and at once.
#pragma once

#include <string_view>

#include "tenure/error.h"

namespace tenure::cli {

// To standard output. Code::input_output and its kin when it cannot be written: a full disk, a closed pipe.
Result<void> print(std::string_view text);
// To standard error. Never fails: there is nobody left to tell.
void complain(std::string_view text) noexcept;

}  // namespace tenure::cli
