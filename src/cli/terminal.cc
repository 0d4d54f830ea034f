#include "cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace tenure::cli {
namespace {

// Whatever stands in the place of the standard streams.
base::Descriptor open_terminal() {
  return base::Descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

Terminal::Terminal() {
  const base::Descriptor terminal = open_terminal();
  ours_ = terminal.open() && ::tcgetpgrp(terminal.get()) == ::getpgrp();
}

void Terminal::take_back() const {
  if (!ours_) return;
  const base::Descriptor terminal = open_terminal();
  if (terminal.open() && ::tcgetpgrp(terminal.get()) != ::getpgrp()) ::tcsetpgrp(terminal.get(), ::getpgrp());
}

}  // namespace tenure::cli
