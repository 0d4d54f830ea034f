// Ways to live and to end that few programs have: each is a way to lose a key, or to keep one for ever.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "deaths/lives.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace tenure::local_test {
namespace {

using StrangeLives = Lives;

ClaimRef ref(const Grant& grant) {
  return {grant.key, grant.claim, grant.epoch};
}

bool is_of_another_process(Engine& engine, const Grant& grant) {
  const auto standing = engine.verify(ref(grant));
  return !standing && standing.error().code == Code::wrong_process;
}

int listen_in_the_same_memory(void* line) {
  (void)static_cast<const Actor::Line*>(line)->hear();
  ::_exit(0);
}

// A process that shares our memory and outlives us, until the test lets go of its end of the line.
bool leave_a_sharer(const Actor::Line& line) {
  static std::array<std::byte, 64 * 1024> stack;
  static Actor::Line its = line;
  return clone(listen_in_the_same_memory, stack.data() + stack.size(), CLONE_VM | SIGCHLD, &its) > 0;
}

// From here on futex_waitv(2) is not there for this process, as on older kernels and under some containers' filters.
bool without_waitv() {
  std::array<sock_filter, 4> code{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_futex_waitv},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{code.size(), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What we start from here on counts its time from another start of the machine.
bool with_shifted_clocks() {
  if (unshare(CLONE_NEWTIME) != 0) return false;
  std::ofstream offsets("/proc/self/timens_offsets");
  offsets << "monotonic 5000 0\nboottime 5000 0\n";
  offsets.flush();
  return offsets.good();
}

off_t size_of(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 ? status.st_size : -1;
}

TEST_F(StrangeLives, ADaemonisedHolderHasLeftItsLeaseBehind) {
  const auto child = holder("k", [](Engine& engine, const Grant& grant, const Actor::Line& line) {
    (void)line.hear();
    if (daemon(1, 1) != 0) return 6;
    line.say(is_of_another_process(engine, grant) ? 'w' : 'x');
    (void)line.hear();
    return 0;
  });
  EXPECT_TRUE(is_held("k"));
  child->say('d');
  EXPECT_EQ(child->hear(), 'w');
  EXPECT_EQ(child->wait(), 0);
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(StrangeLives, AChildThatNoHandlerOfForkHeardOfIsAnotherProcess) {
  const auto child = holder("k", [](Engine& engine, const Grant& grant, const Actor::Line& line) {
    const long grandchild = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (grandchild == 0) {
      line.say(is_of_another_process(engine, grant) ? 'w' : 'x');
      ::_exit(0);
    }
    waitpid(static_cast<pid_t>(grandchild), nullptr, 0);
    line.say(engine.verify(ref(grant)) ? 'y' : 'n');
    (void)line.hear();
    return 0;
  });
  EXPECT_EQ(child->hear(), 'w');
  EXPECT_EQ(child->hear(), 'y');
  EXPECT_TRUE(is_held("k"));
}

// Its memory, and with it its lock, goes last: what the kernel says of its threads must have decided before.
TEST_F(StrangeLives, ADeathIsSeenWhileTheMemoryIsStillThere) {
  const auto child = holder("k", [](Engine&, const Grant&, const Actor::Line& line) {
    line.say(leave_a_sharer(line) ? 's' : 'x');
    pause();
    return 0;
  });
  ASSERT_EQ(child->hear(), 's');
  auto next = waits("k", "next");
  until_in_line("k", "1");
  child->kill(SIGKILL);
  const auto granted = next.get();
  ASSERT_TRUE(granted) << granted.error().message;
  ASSERT_TRUE(granted->displaced);
  EXPECT_EQ(granted->displaced->verdict.liveness, Liveness::dead);
  EXPECT_EQ(granted->displaced->verdict.evidence.find("let go of its lock"), std::string::npos)
      << granted->displaced->verdict.evidence;
  release("k", *granted);
}

TEST_F(StrangeLives, AHolderThatWritesALargeCoreIsAliveUntilItIsWritten) {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  if (pattern.empty() || pattern.find_first_of("|/%@") != std::string::npos) {
    GTEST_SKIP() << "cores do not go to a file beside the process here: " << pattern;
  }
  const std::string folder = folder_.path();
  const auto child = holder("k", [=](Engine&, const Grant&, const Actor::Line& line) {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &all) != 0 || chdir(folder.c_str()) != 0) return 6;
    std::vector<char> large(std::size_t{24} << 20, 'x');
    line.say('r');
    (void)line.hear();
    signal(SIGABRT, SIG_DFL);
    ::abort();
    return static_cast<int>(large.size() % 2);
  });
  ASSERT_EQ(child->hear(), 'r');
  auto next = waits("k", "next");
  until_in_line("k", "1");
  child->say('d');
  ASSERT_TRUE(next.get());
  std::string core = folder + "/core";
  if (size_of(core) < 0) core += "." + std::to_string(child->pid());
  const off_t at_the_grant = size_of(core);
  EXPECT_EQ(child->wait(), 128 + SIGABRT);
  if (size_of(core) < 0) GTEST_SKIP() << "no core was written";
  EXPECT_EQ(at_the_grant, size_of(core)) << "it was granted while the core was being written";
}

TEST_F(StrangeLives, WithoutAWaitOnSeveralWordsAllIsAsBefore) {
  const std::string path = folder_.path();
  const auto first = holder("k", until_told);
  const auto filtered = [&] {
    return std::make_unique<Actor>([=](const Actor::Line& line) {
      if (!without_waitv()) return 6;
      const auto engine = join(path);
      line.say('j');
      const auto granted = engine->await(request("k"), up_to(seconds(30)));
      line.say(granted ? 'g' : 'x');
      (void)line.hear();
      if (granted) (void)engine->release(ref(*granted));
      line.say('r');
      (void)line.hear();
      return 0;
    });
  };
  const auto second = filtered();
  ASSERT_EQ(second->hear(), 'j');
  until_in_line("k", "1");
  const auto third = filtered();
  ASSERT_EQ(third->hear(), 'j');
  until_in_line("k", "2");
  first->kill(SIGKILL);
  EXPECT_EQ(second->hear(), 'g') << "the death of the holder";
  second->say('r');
  EXPECT_EQ(second->hear(), 'r');
  EXPECT_EQ(third->hear(), 'g') << "a release";
  third->kill(SIGKILL);
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(StrangeLives, AnotherStartOfTheClocksNeitherEndsNorKeepsALease) {
  const std::string path = folder_.path();
  auto ours = request("ours");
  ours.terms.ttl = seconds(60);
  ASSERT_TRUE(engine_->try_claim(ours));
  Actor outer([=](const Actor::Line& line) {
    if (!with_shifted_clocks()) {
      line.say('s');
      return 0;
    }
    const pid_t inner = fork();
    if (inner != 0) {
      (void)line.hear();
      ::kill(inner, SIGKILL);
      waitpid(inner, nullptr, 0);
      line.say('k');
      (void)line.hear();
      return 0;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto engine = join(path);
    auto theirs = request("theirs");
    theirs.terms.ttl = seconds(60);
    const bool holds = engine->try_claim(theirs).has_value();
    // By their clocks ours was claimed long ago.
    const auto claimed = engine->try_claim(request("ours"));
    line.say(holds && !claimed && claimed.error().code == Code::held ? 'h' : 'x');
    for (;;) pause();
  });
  const char word = outer.hear();
  if (word == 's') GTEST_SKIP() << "no further time namespace is permitted";
  ASSERT_EQ(word, 'h');
  EXPECT_TRUE(is_held("theirs")) << "by our clocks it was claimed in the future";
  outer.say('k');
  EXPECT_EQ(outer.hear(), 'k');
  EXPECT_TRUE(comes_free("theirs", seconds(5)));
}

}  // namespace
}  // namespace tenure::local_test
