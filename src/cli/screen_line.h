// A line of a screen: plain text, which fits, and how it stands out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenure::cli {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;

  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

enum class Emphasis : std::uint8_t { none, strong, chosen, bad, doubtful };

struct ScreenLine {
  std::string text;
  Emphasis emphasis = Emphasis::none;

  friend bool operator==(const ScreenLine&, const ScreenLine&) = default;
};

}  // namespace tenure::cli
