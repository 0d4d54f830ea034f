// Stop: how a wait is told to give up, from another thread or from a signal handler.
#pragma once

#include "tenure/error.h"

namespace tenure {

class Stop {
 public:
  // Takes one eventfd (close-on-exec). Code::no_descriptors.
  static Result<Stop> create();
  Stop(Stop&& other) noexcept;
  Stop& operator=(Stop&& other) noexcept;
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop();

  // Ends every wait that was given this object, present and future. Any thread; safe in a signal handler.
  void request() const noexcept;
  bool requested() const noexcept;
  // Readable from the request on. Not to be read from.
  int descriptor() const noexcept { return descriptor_; }

 private:
  explicit Stop(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace tenure
