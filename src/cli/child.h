// The command that `run` runs: started from the thread that calls, in our process group.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "cli/exec_words.h"
#include "cli/files.h"
#include "cli/signals.h"

namespace tenure::cli {

struct ChildPlan {
  std::vector<std::string> command;  // not empty
  Variables variables;
  std::vector<int> life_descriptors;  // inherited; nothing else of ours is
  int group = -1;                     // the folder of the control group in which it is born
  bool only_in_group = false;         // else where the kernel refuses that
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
  // The thread that calls must live as long as the process: the child gets TERM when it ends. `ready` is called with
  // the child's process, which gets all signals of its group by then, but runs nothing yet: false calls it off. So does
  // the end of whoever has the other end of `until_closed`, a socket, as long as the command was not executed.
  static std::expected<Child, NotStarted> start(const ChildPlan& plan, const SignalGate& gate,
                                                const std::function<bool(int pid)>& ready, int until_closed);

  int pid() const { return pid_; }

 private:
  explicit Child(int pid) : pid_(pid) {}
  int pid_;
};

}  // namespace tenure::cli
