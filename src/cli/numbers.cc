#include "cli/numbers.h"

#include <charconv>

#include "base/text.h"

namespace tenure::cli {

Result<std::uint64_t> number_of(const std::string& text, std::uint64_t most, const char* name) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (text.empty() || problem != std::errc{} || stop != end || value > most) {
    return fail(Code::usage, std::string(name) + " wants a whole number up to " + std::to_string(most) + ", not " +
                                 escape_controls(text));
  }
  return value;
}

Result<std::optional<Epoch>> epoch_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  auto value = number_of(*text, Epoch::kLimit - 1, "--epoch");
  if (!value) return fail(value.error());
  return Epoch(*value);
}

Result<std::optional<Duration>> duration_of(const std::optional<std::string>& text, const char* name) {
  if (!text) return std::nullopt;
  auto duration = parse_duration(*text);
  if (!duration) {
    Error error = duration.error();
    error.message = std::string(name) + ": " + error.message;
    return fail(std::move(error));
  }
  return *duration;
}

}  // namespace tenure::cli
