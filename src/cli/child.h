// The command that `run` runs: started from the thread that calls, in our process group, and ended with us.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/files.h"
#include "cli/signals.h"

namespace tenure::cli {

struct ChildPlan {
  std::vector<std::string> command;  // not empty
  std::vector<std::pair<std::string, std::string>> variables;
  int life_descriptor = -1;  // inherited; nothing else of ours is
};

struct ChildEnd {
  int exit_code = 0;  // 128+n for signals
  int signal = 0;     // 0: it ended by itself
};

class Child {
 public:
  // It could not be started: as shells have it, 127 where there is no such program, else 126. Or it was called off: 0.
  struct NotStarted {
    int exit_code = 126;
    std::string message;
  };
  // The thread that calls must live as long as the process: the child is killed when it ends. `ready` is called when
  // the child's process is there, and so gets all signals of its group, but runs nothing yet: false calls it off.
  static std::expected<Child, NotStarted> start(const ChildPlan& plan, const SignalGate& gate,
                                                const std::function<bool()>& ready);

  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) = delete;

  int pid() const { return pid_; }
  // Readable when it has ended.
  int descriptor() const { return descriptor_.get(); }
  // Still in our process group, so that what is sent to the group reaches it without us.
  bool in_our_group() const;
  void send(int signal) const;
  // Waits for its end. Once.
  ChildEnd reap() const;

 private:
  Child(int pid, Descriptor descriptor) : pid_(pid), descriptor_(std::move(descriptor)) {}
  int pid_;
  Descriptor descriptor_;
};

}  // namespace tenure::cli
