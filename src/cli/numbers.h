// Numbers and spans of time on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tenure/epoch.h"
#include "tenure/time.h"

namespace tenure::cli {

// Decimal digits only, at most `most`. Code::usage; `name` is the option.
Result<std::uint64_t> number_of(const std::string& text, std::uint64_t most, const char* name);
Result<std::optional<Epoch>> epoch_of(const std::optional<std::string>& text);
// nullopt where the option was not given. Code::bad_duration names the option.
Result<std::optional<Duration>> duration_of(const std::optional<std::string>& text, const char* name);

}  // namespace tenure::cli
