// The control group of a run: a folder below our own group, in which the command is born, so that the kernel knows what
// came of it whatever that does: a new session, closed descriptors and dead parents hide nobody in there. The lease
// names it as a further proof, and the tree can be killed by one word.
//
// Whoever has it in use holds a lock on the folder; one that was left behind, empty and without a lock, is removed by
// the next run in the same group.
#pragma once

#include <string>

#include "cli/files.h"

namespace tenure::cli {

enum class GroupWish { automatic, never, require };

class RunGroup {
 public:
  // None: where it was not wished for; and where it was not required and cannot be had, is systemd's and not delegated
  // to us, or would hide from the command a limit of memory or processor time that stands in our own group.
  // Code::not_permitted, Code::unsupported.
  static Result<RunGroup> make(GroupWish wish);
  RunGroup() = default;
  RunGroup(RunGroup&& other) noexcept;
  RunGroup& operator=(RunGroup&&) = delete;
  ~RunGroup() { remove(); }

  // Empty, -1: none.
  const std::string& folder() const { return path_; }
  int descriptor() const { return folder_.get(); }
  // Where nobody lives in it any more.
  void remove();

 private:
  RunGroup(std::string path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  static Result<RunGroup> make_below(const std::string& own);
  std::string path_;
  Descriptor folder_;
};

// Everybody in the group with that folder, and in those below it, in one step. False: this kernel cannot (before 5.14).
bool kill_group(int folder);

}  // namespace tenure::cli
