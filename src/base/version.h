// The version of tenure, as the build gives it.
#pragma once

#include <string_view>

namespace tenure {

inline constexpr std::string_view kVersion = TENURE_VERSION;

}  // namespace tenure
