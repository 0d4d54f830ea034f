// The system's errors in our words.
#pragma once

#include <string>
#include <string_view>

#include "tenure/error.h"

namespace tenure::os {

// no_space (ENOSPC, EDQUOT), read_only (EROFS), no_descriptors (EMFILE, ENFILE), not_permitted (EACCES, EPERM),
// input_output (the rest).
Code code_of(int error) noexcept;

// "No space left on device (ENOSPC)".
std::string system_words(int error);

// "cannot write /x/y: No space left on device (ENOSPC)", with a remedy where there is one.
std::unexpected<Error> system_failure(int error, std::string_view doing, std::string_view path);

}  // namespace tenure::os
