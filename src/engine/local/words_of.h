// Bytes in words that several processes read: copied word by word, each one atomically.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/local/layout.h"

namespace tenure::local {

inline void write_bytes(Word64* words, std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    const std::size_t left = bytes.size() - at;
    std::memcpy(&word, bytes.data() + at, left < 8 ? left : 8);
    words[at / 8].store(word, std::memory_order_relaxed);
  }
}

inline std::string read_bytes(const Word64* words, std::size_t length) {
  std::string bytes(length, '\0');
  for (std::size_t at = 0; at < length; at += 8) {
    const std::uint64_t word = words[at / 8].load(std::memory_order_relaxed);
    std::memcpy(bytes.data() + at, &word, length - at < 8 ? length - at : 8);
  }
  return bytes;
}

// As many as fit `into`, a multiple of 8 bytes long; without allocating.
inline std::string_view copy_bytes(const Word64* words, std::size_t length, std::span<char> into) noexcept {
  if (length > into.size()) length = into.size();
  for (std::size_t at = 0; at < length; at += 8) {
    const std::uint64_t word = words[at / 8].load(std::memory_order_relaxed);
    std::memcpy(into.data() + at, &word, 8);
  }
  return {into.data(), length};
}

inline bool same_bytes(const Word64* words, std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    const std::size_t left = bytes.size() - at;
    std::memcpy(&word, bytes.data() + at, left < 8 ? left : 8);
    if (words[at / 8].load(std::memory_order_relaxed) != word) return false;
  }
  return true;
}

inline std::uint64_t at(const Cell& cell, std::size_t field) noexcept {
  return cell.body[field].load(std::memory_order_relaxed);
}

// Two halves of one word.
constexpr std::uint64_t two(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
constexpr std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace tenure::local
