// A command that a user has run when something happens to a lease: --on-lost 'COMMAND', --on-ask 'COMMAND'.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/exec_words.h"
#include "cli/files.h"
#include "cli/signals.h"
#include "tenure/time.h"

namespace tenure::cli {

class Hook {
 public:
  Hook() = default;
  // Runs `sh -c command`, in a process group of its own, with these variables besides ours, and signals as they were
  // when we were started. `option` is for messages. `listening`: its standard output comes to us, see first_line().
  static Hook start(std::string_view option, const std::string& command, const Variables& variables,
                    const SignalGate& gate, bool listening = false);
  Hook(Hook&& other) noexcept;
  Hook& operator=(Hook&& other) noexcept;
  // One that still runs is killed.
  ~Hook();

  // Readable when it has ended; -1: there is none, or no more.
  int descriptor() const { return descriptor_.get(); }
  bool runs() const { return pid_ > 0; }
  // Reaps it, if it has ended. Its exit code then, -1 when it died of a signal; nullopt: it runs, or there was none.
  std::optional<int> reap();
  // And its whole group.
  void kill();
  // What it has written so far, up to the first newline, at most `most` bytes.
  std::string first_line(std::size_t most) const;

 private:
  int pid_ = -1;
  Descriptor descriptor_;
  Descriptor output_;
};

}  // namespace tenure::cli
