// OwnProcess: remembers which process made an object, so that a forked child leaves alone what is its parent's.
//
// A pid alone does not tell: a child in a new pid namespace may have the very number of its parent there (1 and 1). So
// the process mark is asked as well; a vfork child shares that, and there the pid tells.
#pragma once

#include <sys/types.h>

#include "base/process_mark.h"

namespace tenure::os {

class OwnProcess {
 public:
  OwnProcess();
  // One getpid() and two reads.
  bool same() const noexcept;

 private:
  ::pid_t pid_;
  base::ProcessMark mark_;
};

}  // namespace tenure::os
