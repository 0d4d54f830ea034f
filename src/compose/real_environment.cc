#include "compose/real_environment.h"

#include "os/linux/control_group_files.h"
#include "os/linux/local_time.h"
#include "os/linux/real_clock.h"
#include "os/linux/real_control_groups.h"
#include "os/linux/real_processes.h"
#include "os/linux/real_random.h"

namespace tenure::compose {

env::Environment real_environment() {
  return {std::make_shared<const os::RealClock>(), std::make_shared<os::RealRandom>(),
          std::make_shared<const os::RealProcesses>(), std::make_shared<const os::RealControlGroups>()};
}

std::shared_ptr<const env::Clock> real_clock() {
  return std::make_shared<const os::RealClock>();
}

std::string local_time(WallTime at) {
  return os::local_time(at);
}

std::string own_control_group_folder() {
  return os::own_control_group_folder();
}

}  // namespace tenure::compose
