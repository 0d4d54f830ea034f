// Epoch: the fencing token. A lease is granted under one; each change of ownership of a key takes a strictly
// greater one than any ever granted for it. 0 means "none". Below 2^53, so that every JSON reader keeps it whole.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace tenure {

class Epoch {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 53;  // exclusive

  constexpr Epoch() = default;
  constexpr explicit Epoch(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const noexcept { return value_; }
  constexpr bool none() const noexcept { return value_ == 0; }
  constexpr bool credible() const noexcept { return value_ < kLimit; }
  std::string text() const { return std::to_string(value_); }

  friend constexpr auto operator<=>(Epoch, Epoch) = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace tenure
