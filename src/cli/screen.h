// A terminal as a screen of lines: the alternate one, in the sequences of ECMA-48 and of xterm that every terminal in
// use knows or passes over. What stood there before is there again on every way out. On a terminal that cannot place
// its cursor (TERM=dumb) one screen follows the other, without any sequence.
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "cli/screen_line.h"
#include "tenure/error.h"

namespace tenure::cli {

// Whether standard input and output are a terminal.
bool on_terminal();
// Of the terminal on standard output; else as COLUMNS and LINES say; else 80 by 24.
ScreenSize screen_size();

class Screen {
 public:
  // Where on_terminal().
  Screen();
  // One screen follows the other: to be drawn when there is something new.
  bool scrolls() const { return scrolls_; }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { leave(); }

  // Keys are read one by one and not shown; what the terminal makes into signals stays so. In the background it stops
  // the process, as for any program: TTOU must not be blocked.
  Result<void> enter();
  // The terminal as it was. May be called again and again.
  void leave();
  // In one write, and of that only the lines that are not there already.
  Result<void> draw(const std::vector<ScreenLine>& lines, ScreenSize size);
  // What was typed; empty when the terminal is gone. Waits.
  static Result<std::string> read();

 private:
  Result<void> draw_below(const std::vector<ScreenLine>& lines);
  void add(std::string& out, const ScreenLine& line) const;
  ::termios before_{};
  bool entered_ = false;
  bool scrolls_ = false;
  bool colour_ = false;
  ScreenSize size_;
  std::vector<ScreenLine> there_;
};

}  // namespace tenure::cli
