// The signals of the program while it waits and while its command runs: taken from a descriptor, one by one.
#pragma once

#include <signal.h>

#include <deque>
#include <optional>
#include <span>

#include "cli/files.h"

namespace tenure::cli {

struct Signal {
  int number = 0;
  // Sent by a process to one or more processes, not by the terminal to its foreground group.
  bool by_process = false;
  int sender = 0;  // its process, where one sent it
};

class SignalGate {
 public:
  // Blocks INT, TERM, HUP, QUIT, USR1 and USR2 and remembers how they stood; ignores PIPE, and makes children waitable
  // (SIGCHLD may have been ignored by whoever started us). To be called before any thread is made.
  static Result<SignalGate> close_gate();

  // From here on TSTP, TTIN, TTOU, CONT and WINCH too: what the command is to get, and not we. (A stopped process still
  // goes on at a CONT.) And CHLD.
  void widen();

  // Or, for a program that has the whole screen: TSTP, CONT and WINCH.
  void watch_screen();

  // Readable when one has come.
  int descriptor() const { return descriptor_.get(); }
  std::optional<Signal> take();
  // To be taken later, before those that come.
  void put_back(const Signal& signal) { put_back_.push_back(signal); }
  bool ends_a_wait(const Signal& signal) const;
  // It was ignored or blocked when we were started: it shall not end a wait.
  bool inert(int number) const;
  // What was blocked when we were started.
  const sigset_t& mask_before() const { return mask_before_; }
  // For a child between fork and exec: everything as it was when we were started. Async-signal-safe.
  void restore() const noexcept;

 private:
  // Beside those that it has from the beginning.
  void take_too(std::span<const int> others);
  SignalGate() = default;
  std::optional<Signal> take_new() const;
  std::deque<Signal> put_back_;
  Descriptor descriptor_;
  sigset_t mask_before_{};
  sigset_t ignored_before_{};
  struct sigaction pipe_before_{};
  struct sigaction child_before_{};
};

const char* name_of_signal(int number);

// Stops this process by the signal, which is blocked in all its threads; returns when it goes on.
void stop_by(int number);

// Ends this process by the signal, without a core; by exit code 128+n where that does not work.
[[noreturn]] void die_of(int number);

}  // namespace tenure::cli
