// The second process of `run`: the parent of the command, and of all that come of it.
//
//     the shell ── run (the runner: has the lease) ── guardian ── CMD ── …
//
// Both can end the tree and outlive each other: the guardian adopts what CMD leaves behind, and when it is killed, the
// runner does. When the runner is killed, the guardian sees its socket close, ends the tree, and only then goes, and
// with it the descriptor that keeps the lease. When the runner is stopped and the lease runs out meanwhile, the
// guardian ends the tree. It never touches the lease itself, and has no thread.
//
// It stands in our process group with all signals blocked: what is pending there was sent to the whole group, and the
// command has it already. A signal that was sent to the runner alone is not there, and is passed on.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <optional>

#include "cli/child.h"
#include "cli/files.h"
#include "cli/guardian_note.h"
#include "cli/process_tree.h"
#include "cli/run_group.h"

namespace tenure::cli {

// What the runner tells the guardian without a word, in memory that both see.
class SharedDeadline {
 public:
  static Result<SharedDeadline> make();
  SharedDeadline(SharedDeadline&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  SharedDeadline& operator=(SharedDeadline&&) = delete;
  ~SharedDeadline();
  // nullopt: the lease has no end.
  void set(std::optional<BootTime> end) noexcept;
  std::optional<BootTime> get() const noexcept;

 private:
  explicit SharedDeadline(std::atomic<Duration::rep>* end) : end_(end) {}
  std::atomic<Duration::rep>* end_;
};

struct GuardianPlan {
  const ChildPlan& child;
  const SignalGate& gate;
  const SharedDeadline& deadline;
  Duration grace;
  bool whole_tree = false;       // --until tree
  bool ends_at_deadline = true;  // not where a loss is only to be told
  std::string what_ends;         // at the deadline, for messages: "the lease of deploy"
  std::string what_is_held;      // "deploy"
  bool json = false;             // so are they
  RunGroup& group;               // of the child
};

class Guardian {
 public:
  // The thread that calls must live as long as the process. `ready` is called when the command's process is there, and
  // so gets all signals of its group, but runs nothing yet: false calls it off.
  static std::expected<Guardian, Child::NotStarted> start(const GuardianPlan& plan, const std::function<bool()>& ready);
  Guardian(Guardian&&) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  // Lets it go. What the tree consists of then stays.
  ~Guardian();

  int pid() const { return pid_; }
  int main() const { return main_; }

  // Readable when there is something to hear.
  int descriptor() const { return socket_.get(); }
  struct News {
    std::optional<ChildEnd> main_ended;
    bool tree_empty = false;
    BootTime at;              // when that was, the last of it
    bool was_killed = false;  // the guardian: the tree is ours from now on
  };
  News hear();
  // As of poll(2): how long at most until hear() must be called again.
  int patience();

  // If it was stopped, it goes on.
  void wake();

  // Was `signal`, which we have just received, sent to the group? Asked once for each signal: the answer is then
  // forgotten.
  bool heard(int signal);
  bool main_in_our_group() const;
  // It has ended, though that may not have been told yet.
  bool main_is_over() const;
  void send_to_main(int signal);
  void send_to_all(int signal);
  // See ProcessTree::end().
  void end_tree(int signal, Duration grace);

 private:
  Guardian(int pid, Descriptor socket, int group) : pid_(pid), socket_(std::move(socket)), group_(group) {}
  bool tell(int what, int first = 0, int second = 0);
  std::optional<GuardianNote> await(int what);
  std::optional<GuardianNote> await_start(int what);
  void keep(const GuardianNote& note);
  void take_over();
  std::expected<void, Child::NotStarted> begin(const std::function<bool()>& ready);

  int pid_ = -1;
  Descriptor socket_;
  int main_ = -1;
  bool main_reaped_ = false;
  Descriptor main_descriptor_;
  News unheard_;
  bool ending_ = false;
  int group_;                        // the folder of the control group; -1: none
  std::optional<ProcessTree> tree_;  // once the guardian is gone
};

}  // namespace tenure::cli
