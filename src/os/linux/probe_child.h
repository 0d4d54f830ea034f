// A child process for a probe: what it does cannot harm the caller, and it is never waited for without a bound.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "os/linux/fd.h"
#include "tenure/time.h"

namespace tenure::os {

class ProbeChild {
 public:
  // `body` runs in the child with its end of a socket pair; then the child ends without running any destructor of the
  // caller. nullopt: no child could be had (limits, memory); errno says why.
  static std::optional<ProbeChild> start(const std::function<void(int channel)>& body);
  ProbeChild(ProbeChild&& other) noexcept;
  ProbeChild& operator=(ProbeChild&&) = delete;
  // Kills it, if it has not ended.
  ~ProbeChild();

  // The next number that the child told; nullopt: it ended, or said nothing within the bound.
  std::optional<int> hear(Duration at_most) const;
  // False: it could not be ended within a few seconds (a process in the depths of a broken file system).
  bool kill_and_wait();
  pid_t pid() const { return pid_; }

 private:
  ProbeChild(pid_t pid, Fd channel) : pid_(pid), channel_(std::move(channel)) {}
  bool wait_for_end(Duration at_most);

  pid_t pid_ = -1;
  Fd channel_;
};

// In the child.
void tell(int channel, int number);
// In the child: until the parent ends the talk.
void wait_for_parent(int channel);

// Runs `call` in a child and gives its result; nullopt when the child was killed (by a seccomp filter, say), took
// longer than the bound, or could not be started.
std::optional<int> result_in_child(const std::function<int()>& call, Duration at_most);

}  // namespace tenure::os
