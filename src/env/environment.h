// The outside world as one value, handed to engines at construction. Only compose builds the real one.
#pragma once

#include <memory>

#include "env/clock.h"
#include "env/control_groups.h"
#include "env/directory.h"
#include "env/processes.h"
#include "env/random.h"

namespace tenure::env {

// Shared, because leases, keepers and engines of one space use them from several threads. All ports are thread-safe.
struct Environment {
  std::shared_ptr<const Clock> clock;
  std::shared_ptr<Random> random;
  std::shared_ptr<const Processes> processes;
  std::shared_ptr<const ControlGroups> groups;  // nullptr: none are to be seen
};

}  // namespace tenure::env
