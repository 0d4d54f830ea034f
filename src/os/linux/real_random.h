// Random bytes from the kernel, or none.
#pragma once

#include "env/random.h"

namespace tenure::os {

// getrandom(2): blocks until the kernel's pool is ready once in a boot, never returns weak bytes. There is no second
// source: where it is missing or forbidden, `fill` is Code::no_randomness.
class RealRandom final : public env::Random {
 public:
  Result<void> fill(std::span<std::uint8_t> out) override;
};

}  // namespace tenure::os
