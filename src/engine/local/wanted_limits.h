// The limits that an operator wants for the tables of a space: the file `limits` in its folder, read whenever a table
// is made. docs/reference/format-limits.md is its page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/local/layout.h"
#include "env/directory.h"
#include "tenure/error.h"

namespace tenure::local {

struct WantedLimits {
  std::optional<std::uint32_t> cells;
  std::optional<std::uint32_t> members;
  friend bool operator==(const WantedLimits&, const WantedLimits&) = default;
};

inline constexpr char kLimitsName[] = "limits";
inline constexpr std::uint32_t kMostKeys = 100'000'000;

// So many keys held at once: a cell each, rounded up. Long names, labels and waiters take cells of their own.
constexpr std::uint32_t cells_for(std::uint32_t keys) {
  return (keys + 63) / 64 * 64;
}

// `otherwise` with the wishes put in; the buckets grow and shrink with the cells.
Limits fulfil(const WantedLimits& wanted, const Limits& otherwise);

std::string encode(const WantedLimits& wanted);
// Code::damaged.
Result<WantedLimits> decode_limits(std::string_view text);

// No file: no wish. Code::damaged where it cannot be understood.
Result<WantedLimits> read_limits(env::Directory& directory);
// Durable on return. Only while nobody else writes it: alone, or as the only operator. Leaves alone what it does not
// name.
Result<void> keep_limits(env::Directory& directory, const WantedLimits& wanted);

}  // namespace tenure::local
