// File descriptors, and calls that a signal may interrupt.
#pragma once

#include <cerrno>

#include "base/descriptor.h"

namespace tenure::os {

using Fd = base::Descriptor;

// Calls `call` again for as long as a signal interrupts it.
template <class Call>
auto retry_interrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace tenure::os
