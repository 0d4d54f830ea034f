// The port to randomness.
#pragma once

#include <cstdint>
#include <span>

#include "tenure/error.h"

namespace tenure::env {

class Random {
 public:
  virtual ~Random() = default;
  // All of `out` or Code::no_randomness; never fewer bytes, never weak ones. May block early in a boot.
  virtual Result<void> fill(std::span<std::uint8_t> out) = 0;
};

}  // namespace tenure::env
