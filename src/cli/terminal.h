// The terminal that we were started on, if any: its foreground belongs to us again when the command is over.
//
// The command shares our process group, as it would share a shell's, so that pipelines, scripts and job control go on
// as without us. But it may give the terminal to a group of its own (a shell with job control does) and be killed
// before it gives it back: then nobody here could read from it any more.
#pragma once

namespace tenure::cli {

class Terminal {
 public:
  // Notes whether our process group is in the foreground of the controlling terminal.
  Terminal();
  // If it was, puts it there again. TTOU must be blocked.
  void take_back() const;

 private:
  bool ours_ = false;
};

}  // namespace tenure::cli
