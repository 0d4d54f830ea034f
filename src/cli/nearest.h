// The known word that a mistyped one was meant to be.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tenure::cli {

// nullopt when none is near: more than a third of its letters would have to change.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace tenure::cli
