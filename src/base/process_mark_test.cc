#include "base/process_mark.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

// The exit code of a forked child that runs `check`.
template <class Check>
int in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(ProcessMark, IsTheSameInItsOwnProcess) {
  const ProcessMark mark;
  EXPECT_TRUE(mark.same());
  EXPECT_TRUE(ProcessMark{}.same());
}

TEST(ProcessMark, IsAnotherInAChildAndItsChild) {
  const ProcessMark mark;
  EXPECT_EQ(in_child([&] { return !mark.same(); }), 0);
  EXPECT_EQ(in_child([&] {
              const ProcessMark own;
              const bool apart = own.same() && !mark.same();
              return apart && in_child([&] { return !own.same() && !mark.same(); }) == 0;
            }),
            0);
  EXPECT_TRUE(mark.same());
}

}  // namespace
}  // namespace tenure::base
