// OwnProcess: remembers which process made an object, so that a forked child leaves alone what is its parent's.
//
// A pid alone does not tell: a child in a new pid namespace may have the very number of its parent there (1 and 1). So
// a page that the kernel wipes in every forked child (MADV_WIPEONFORK) is asked as well; a vfork child shares that
// page, and there the pid tells.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tenure::os {

class OwnProcess {
 public:
  OwnProcess();
  // One getpid() and one read.
  bool same() const noexcept;

 private:
  ::pid_t pid_;
  std::uint64_t generation_;
};

}  // namespace tenure::os
