#include "os/linux/own_process.h"

#include <unistd.h>

namespace tenure::os {

OwnProcess::OwnProcess() : pid_(getpid()) {}

bool OwnProcess::same() const noexcept {
  return mark_.same() && getpid() == pid_;
}

}  // namespace tenure::os
