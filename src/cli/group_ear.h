// Tells whether a signal was sent to us alone or to our whole process group.
//
// A signal to the group (kill -TERM -PGID, timeout(1), a shell's kill %1) reaches our command without us: passing it on
// would make it two. The sender's word does not say which it was. So a second process of ours stands in the group with
// all signals blocked and holds one socket: what is pending there was sent to the group.
#pragma once

#include "cli/files.h"

namespace tenure::cli {

class GroupEar {
 public:
  // Where no process can be made, every signal counts as sent to us alone.
  GroupEar();
  GroupEar(const GroupEar&) = delete;
  GroupEar& operator=(const GroupEar&) = delete;
  ~GroupEar();

  // Was `signal`, which we have just received, sent to the group? Asked once for each signal: the answer is then
  // forgotten.
  bool heard(int signal);

 private:
  void dismiss();
  int pid_ = -1;
  Descriptor socket_;
};

}  // namespace tenure::cli
