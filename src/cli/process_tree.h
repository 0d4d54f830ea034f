// The processes below this one: told by signals, ended with patience, and reaped.
//
// Who calls adopt_orphans() becomes the parent of every process below it whose own parent has died (a subreaper, see
// PR_SET_CHILD_SUBREAPER): so none of them is lost by a double fork or a new session, and none is left when the kernel
// says that there is no child any more.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cli/child.h"
#include "compose/real_environment.h"

namespace tenure::cli {

// False where the kernel refuses.
bool adopt_orphans();

// Stopped by a signal; false too where it cannot be seen.
bool is_stopped(int pid);

// Every process below `pid` as /proc shows it, parents before their children. What is forked while it looks may be
// missed.
std::vector<int> descendants_of(int pid);

class ProcessTree {
 public:
  // `main`: the child whose end and whose stops are told. `group`: the folder of the control group in which all of them
  // live that did not leave it; -1: none.
  ProcessTree(int main, int group);

  struct Changes {
    std::optional<ChildEnd> main_ended;
    bool main_stopped = false;
    bool main_continued = false;
    bool empty = false;  // there is no child any more
  };
  // Takes note of all that has happened to children since.
  Changes reap();

  void signal_all(int number) const;
  // TERM (with CONT, since a stopped one could not act on it) or KILL to all; past the grace, KILL again and again
  // until none is left. Asked twice, the harder wish and the shorter time win.
  void end(int number, Duration grace);
  bool ending() const { return ending_; }
  // Does what is due. How long at most until it must be called again, -1 for ever: in milliseconds, as of poll(2).
  int tend();

 private:
  int main_;
  int group_;
  std::shared_ptr<const env::Clock> clock_;
  bool ending_ = false;
  std::optional<MonotonicTime> kill_at_;
  Duration between_kills_{0};
};

}  // namespace tenure::cli
