// --on-lost 'COMMAND': what a user has run when the lease is lost, in place of ending the command.
#pragma once

#include <string>

#include "cli/exec_words.h"
#include "cli/files.h"
#include "cli/signals.h"
#include "tenure/time.h"

namespace tenure::cli {

class LossHook {
 public:
  LossHook() = default;
  // Runs `sh -c command`, in a process group of its own, with these variables besides ours, and signals as they were
  // when we were started.
  static LossHook start(const std::string& command, const Variables& variables, const SignalGate& gate);
  LossHook(LossHook&& other) noexcept;
  LossHook& operator=(LossHook&& other) noexcept;
  // One that still runs is killed.
  ~LossHook();

  // Readable when it has ended; -1: there is none, or no more.
  int descriptor() const { return descriptor_.get(); }
  // Reaps it, if it has ended.
  void reap();
  // And its whole group.
  void kill();

 private:
  int pid_ = -1;
  Descriptor descriptor_;
};

}  // namespace tenure::cli
