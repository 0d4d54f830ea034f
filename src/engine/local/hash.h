// The hash of a key.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenure::local {

// XXH3, 64 bits: part of the format, because it decides the bucket of a key. Never 0.
std::uint64_t hash_of(std::string_view key) noexcept;

}  // namespace tenure::local
