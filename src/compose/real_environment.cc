#include "compose/real_environment.h"

#include "os/linux/real_clock.h"
#include "os/linux/real_processes.h"
#include "os/linux/real_random.h"

namespace tenure::compose {

env::Environment real_environment() {
  return {std::make_shared<const os::RealClock>(), std::make_shared<os::RealRandom>(),
          std::make_shared<const os::RealProcesses>()};
}

}  // namespace tenure::compose
