// ProcessMark: remembers which process made an object, so that a forked child knows that it is not its own.
#pragma once

#include <unistd.h>

namespace tenure::base {

class ProcessMark {
 public:
  ProcessMark() : pid_(::getpid()) {}
  // One getpid(). False in every child, a vfork one included.
  bool same() const { return ::getpid() == pid_; }

 private:
  ::pid_t pid_;
};

}  // namespace tenure::base
