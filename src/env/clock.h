// The port to time. Reads only; nothing in tenure asks the system for the time in another way.
#pragma once

#include "tenure/time.h"

namespace tenure::env {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonotonicTime monotonic() const = 0;
  virtual BootTime boottime() const = 0;
  virtual WallTime wall() const = 0;
  // The same to within a tick of the kernel (some milliseconds), for a fraction of the price.
  virtual WallTime wall_coarse() const { return wall(); }
};

}  // namespace tenure::env
