// The three clocks of the kernel.
#pragma once

#include "env/clock.h"

namespace tenure::os {

class RealClock final : public env::Clock {
 public:
  MonotonicTime monotonic() const override;
  BootTime boottime() const override;
  WallTime wall() const override;
  WallTime wall_coarse() const override;
};

}  // namespace tenure::os
