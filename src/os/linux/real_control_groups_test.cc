#include "os/linux/real_control_groups.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "os/linux/control_group_files.h"

namespace tenure::os {
namespace {

using env::GroupSight;

// A group below our own, gone with the test.
class Groups : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string own = own_control_group_folder();
    folder_ = own + "/tenure-test-" + std::to_string(::getpid());
    if (own.empty() || ::mkdir(folder_.c_str(), 0700) != 0) {
      folder_.clear();
      GTEST_SKIP() << "no control group can be made here";
    }
  }
  void TearDown() override {
    end_child();
    if (!folder_.empty()) ::rmdir(folder_.c_str());
  }

  // A process in the group, that waits until it is ended.
  void start_child() {
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) ::pause();
    }
    std::ofstream(folder_ + "/cgroup.procs") << child_;
  }
  void end_child() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

  const RealControlGroups groups_;
  std::string folder_;
  ::pid_t child_ = 0;
};

TEST_F(Groups, SaysWhetherAProcessLivesInIt) {
  const auto group = groups_.identify(folder_);
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(groups_.look(*group), GroupSight::empty);
  start_child();
  EXPECT_EQ(groups_.look(*group), GroupSight::populated);
  end_child();
  EXPECT_EQ(groups_.look(*group), GroupSight::empty);
  ASSERT_EQ(::rmdir(folder_.c_str()), 0);
  EXPECT_EQ(groups_.look(*group), GroupSight::gone);
  // Another of the same name is another.
  ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0);
  start_child();
  EXPECT_EQ(groups_.look(*group), GroupSight::gone);
}

TEST_F(Groups, IsNotSeenFromBelowAnotherTop) {
  auto group = groups_.identify(folder_);
  ASSERT_TRUE(group);
  ++group->root;
  EXPECT_EQ(groups_.look(*group), GroupSight::unseen);
}

TEST_F(Groups, NamesNothingElse) {
  EXPECT_EQ(groups_.identify("/proc").error().code, Code::usage);
  EXPECT_FALSE(groups_.identify(folder_ + "/none"));
}

}  // namespace
}  // namespace tenure::os
