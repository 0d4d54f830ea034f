#include "os/linux/life_lock.h"

#include <gtest/gtest.h>
#include <linux/close_range.h>

#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

using Life = Result<std::unique_ptr<env::LifeLock>>;

LifeSight probe(env::Directory& folder) {
  return folder.probe_life("x.life", std::nullopt).sight;
}

TEST(LifeLock, IsHeldUntilItIsLetGo) {
  Scratch scratch;
  const auto folder = scratch.open();
  EXPECT_EQ(probe(*folder), LifeSight::absent);
  Life life = folder->take_life("x.life", "x.tmp", false, false);
  ASSERT_TRUE(life) << life.error().message;
  EXPECT_EQ((*life)->descriptor(), -1);
  EXPECT_EQ(probe(*folder), LifeSight::held);
  EXPECT_EQ(folder->probe_life("x.life", (*life)->identity()).identity, (*life)->identity());
  EXPECT_EQ(folder->take_life("x.life", "x.tmp", false, false).error().code, Code::held);
  EXPECT_EQ(probe(*folder), LifeSight::held) << "neither a probe nor a refused try disturbs it";
  life->reset();
  EXPECT_EQ(probe(*folder), LifeSight::free);
  EXPECT_TRUE(folder->take_life("x.life", "x.tmp", false, false));
  EXPECT_EQ(scratch.count(), 1U);
}

TEST(LifeLock, AFreshOneComesWhoeverHoldsTheOld) {
  Scratch scratch;
  const auto folder = scratch.open();
  const Life old = folder->take_life("x.life", "x.tmp", false, false);
  ASSERT_TRUE(old);
  const Life fresh = folder->take_life("x.life", "x.tmp", true, false);
  ASSERT_TRUE(fresh);
  EXPECT_NE((*fresh)->identity(), (*old)->identity());
  EXPECT_EQ(folder->probe_life("x.life", (*fresh)->identity()).sight, LifeSight::held);
  const env::LifeProbe other = folder->probe_life("x.life", (*old)->identity());
  EXPECT_EQ(other.sight, LifeSight::other_file);
  EXPECT_EQ(other.identity, (*fresh)->identity());
  EXPECT_EQ(scratch.count(), 1U);
}

TEST(LifeLock, EndsWithAKilledProcess) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child& self) {
    const Life life = folder->take_life("x.life", "x.tmp", false, false);
    if (!life) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(probe(*folder), LifeSight::held);
  ASSERT_TRUE(child.stop());
  EXPECT_EQ(probe(*folder), LifeSight::held) << "a stopped process is alive";
  kill(child.pid(), SIGKILL);
  ASSERT_TRUE(child.ended());
  EXPECT_EQ(probe(*folder), LifeSight::free) << "and a zombie is not";
}

TEST(LifeLock, SurvivesTheClosingOfEveryDescriptor) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child&) {
    const Life life = folder->take_life("x.life", "x.tmp", false, false);
    if (!life || close_range(3, ~0U, 0) != 0) return 1;
    for (;;) pause();
  });
  ASSERT_TRUE(child.silent()) << "its pipes are closed, and with them all else";
  EXPECT_EQ(probe(*folder), LifeSight::held);
  kill(child.pid(), SIGKILL);
  ASSERT_TRUE(child.ended());
  EXPECT_EQ(probe(*folder), LifeSight::free);
}

TEST(LifeLock, IsNotInheritedByAFork) {
  Scratch scratch;
  const auto folder = scratch.open();
  Life life = folder->take_life("x.life", "x.tmp", false, false);
  ASSERT_TRUE(life);
  Child child([&](Child& self) {
    life->reset();  // must not harm: there is no such mapping in the child
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(probe(*folder), LifeSight::held) << "what the child does with its copy of the object changes nothing";
  Child other([&](Child& self) {
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(other.told());
  life->reset();
  EXPECT_EQ(probe(*folder), LifeSight::free) << "a living child does not keep it";
}

TEST(LifeLock, EndsAtExec) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child& self) {
    const Life life = folder->take_life("x.life", "x.tmp", false, true);
    if (!life) return 1;
    self.tell();
    if (!self.told()) return 2;
    execl("/bin/sh", "sh", "-c", "kill -STOP $$", nullptr);
    return 3;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(probe(*folder), LifeSight::held);
  child.tell();
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WSTOPPED), 0);
  ASSERT_EQ(info.si_code, CLD_STOPPED) << "the process lives on as another program";
  EXPECT_EQ(probe(*folder), LifeSight::free);
}

TEST(LifeLock, M14_APassedDescriptorKeepsItUntilBothAreGone) {
  Scratch scratch;
  const auto folder = scratch.open();
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int worker_pid[2];
  ASSERT_EQ(pipe2(worker_pid, O_CLOEXEC), 0);
  Child holder([&](Child& self) {
    const Life life = folder->take_life("x.life", "x.tmp", false, true);
    if (!life || (*life)->descriptor() < 0) return 1;
    if ((fcntl((*life)->descriptor(), F_GETFD) & FD_CLOEXEC) == 0) return 2;
    const pid_t worker = fork();
    if (worker == 0) {
      fcntl((*life)->descriptor(), F_SETFD, 0);
      execl("/bin/sh", "sh", "-c", "kill -STOP $$", nullptr);
      _exit(3);
    }
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(worker), &info, WSTOPPED);
    if (write(worker_pid[1], &worker, sizeof worker) != sizeof worker) return 4;
    return self.told() ? 0 : 5;
  });
  pid_t worker = 0;
  ASSERT_EQ(read(worker_pid[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  kill(holder.pid(), SIGKILL);
  ASSERT_TRUE(holder.ended());
  EXPECT_EQ(probe(*folder), LifeSight::held) << "the work goes on";
  kill(worker, SIGKILL);
  ASSERT_EQ(waitpid(worker, nullptr, 0), worker);
  EXPECT_EQ(probe(*folder), LifeSight::free);
  close(worker_pid[0]), close(worker_pid[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(LifeLock, LettingGoFreesItThoughAChildHasTheDescriptor) {
  Scratch scratch;
  const auto folder = scratch.open();
  Life life = folder->take_life("x.life", "x.tmp", false, true);
  ASSERT_TRUE(life);
  Child child([&](Child& self) {
    self.tell();
    if (!self.told()) return 1;
    life->reset();  // in the child: closes its copy and nothing else
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  life->reset();
  EXPECT_EQ(probe(*folder), LifeSight::free);
  const Life next = folder->take_life("x.life", "x.tmp", false, false);
  ASSERT_TRUE(next);
  child.tell();
  ASSERT_TRUE(child.told());
  EXPECT_EQ(probe(*folder), LifeSight::held) << "the child's copy of the old one does not free the new one";
}

TEST(LifeLock, ANumberThatWasReusedIsLeftAlone) {
  Scratch scratch;
  const auto folder = scratch.open();
  Life life = folder->take_life("x.life", "x.tmp", false, true);
  ASSERT_TRUE(life);
  const int number = (*life)->descriptor();
  close(number);  // as closefrom(3) in the host does
  scratch.put("other", "x");
  const Fd other(open(scratch.at("other").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(other.get(), number);
  EXPECT_EQ(probe(*folder), LifeSight::held) << "the mapping holds it";
  life->reset();
  EXPECT_EQ(probe(*folder), LifeSight::free);
  EXPECT_NE(fcntl(number, F_GETFD), -1) << "the host's own file is still open";
}

TEST(LifeLock, AnEmptyFileGetsAByteAndContentStays) {
  Scratch scratch;
  const auto folder = scratch.open();
  scratch.put("x.life", "");
  {
    ASSERT_TRUE(folder->take_life("x.life", "x.tmp", false, false));
  }
  EXPECT_EQ(scratch.get("x.life").size(), 1U);
  scratch.put("x.life", "words");
  {
    ASSERT_TRUE(folder->take_life("x.life", "x.tmp", false, false));
  }
  EXPECT_EQ(scratch.get("x.life"), "words");
}

TEST(LifeLock, ALeftoverUnderTheTemporaryNameIsNoObstacle) {
  Scratch scratch;
  const auto folder = scratch.open();
  scratch.put("x.tmp", "left by a crash");
  EXPECT_TRUE(folder->take_life("x.life", "x.tmp", true, false));
  EXPECT_FALSE(scratch.has("x.tmp"));
}

}  // namespace
}  // namespace tenure::os
