// A process looked for under the whole kernel: found by its own number, called gone only when everybody was seen.
#include "os/linux/find_process.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mount.h>

#include <atomic>
#include <thread>

#include "os/linux/real_processes.h"
#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

constexpr std::uint64_t kInitial = 0xEFFF'FFFC;
constexpr uid_t kSomebody = 65534;
constexpr std::int32_t kUnused = 0x7fff'ffff;  // beyond the largest number that a kernel gives

#define TENURE_NEEDS_THE_WHOLE_KERNEL()                                            \
  if (geteuid() != 0 || RealProcesses().self().identity.pid_namespace != kInitial) \
  GTEST_SKIP() << "NOT TESTED: only root in the initial pid namespace can see all processes"

std::uint64_t start_of(const RealProcesses& processes, std::int32_t pid) {
  return processes.look(pid).start_ticks;
}

bool has_own_proc() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("proc", "/proc", "proc", 0, nullptr) == 0;
}

// ---- the real /proc

TEST(FindProcess, FindsItself) {
  const RealProcesses processes;
  const ProcessIdentity& self = processes.self().identity;
  EXPECT_EQ(processes.find(self.pid, self.start_ticks), Anywhere::found);
  EXPECT_NE(processes.find(self.pid, self.start_ticks + 1), Anywhere::found);
  for (const std::int32_t odd : {0, -1, kUnused}) EXPECT_NE(processes.find(odd, self.start_ticks), Anywhere::found);
}

TEST(FindProcess, OneThatIsGoneIsNowhere) {
  TENURE_NEEDS_THE_WHOLE_KERNEL();
  const RealProcesses processes;
  Child child([](Child& self) { return self.told() ? 0 : 1; });
  const std::int32_t pid = child.pid();
  const std::uint64_t start = start_of(processes, pid);
  EXPECT_EQ(processes.find(pid, start), Anywhere::found);
  EXPECT_EQ(processes.find(pid, start + 1), Anywhere::nowhere) << "the number was given out again";
  ASSERT_TRUE(child.stop());
  EXPECT_EQ(processes.find(pid, start), Anywhere::found);
  kill(pid, SIGKILL);
  ASSERT_TRUE(child.ended());
  EXPECT_EQ(processes.find(pid, start), Anywhere::nowhere) << "nobody has reaped it, and it is gone all the same";
  EXPECT_EQ(child.wait(), 1000 + SIGKILL);
  EXPECT_EQ(processes.find(pid, start), Anywhere::nowhere);
  EXPECT_EQ(processes.find(kUnused, start), Anywhere::nowhere);
}

TEST(FindProcess, OneWhoseFirstThreadEndedStillRuns) {
  TENURE_NEEDS_THE_WHOLE_KERNEL();
  const RealProcesses processes;
  Child child([](Child& self) {
    std::thread([&self] { _exit(self.told() ? 0 : 1); }).detach();
    syscall(SYS_exit, 0);
    return 2;
  });
  ASSERT_TRUE(eventually([&] { return processes.look(child.pid()).state == 'Z'; }));
  EXPECT_EQ(processes.find(child.pid(), start_of(processes, child.pid())), Anywhere::found);
  child.tell();
  EXPECT_EQ(child.wait(), 0);
}

TEST(FindProcess, OneInAnInnerNamespaceIsFoundByItsOwnNumber) {
  TENURE_NEEDS_THE_WHOLE_KERNEL();
  // This child stays in the initial namespace; what it forks does not.
  Child child([](Child&) {
    if (unshare(CLONE_NEWPID) != 0) return 2;
    Child inner([](Child& self) { return getpid() == 1 && self.told() ? 0 : 1; });
    const RealProcesses processes;
    const std::int32_t pid = inner.pid();
    const std::uint64_t start = start_of(processes, pid);
    // The machine's own first process has that number too, and may not let itself be asked for its clock.
    const Anywhere nobody = processes.find(1, ~std::uint64_t{0});
    if (processes.find(1, start) != Anywhere::found) return 3;
    if (processes.find(pid, start) != Anywhere::nowhere) return 4;
    inner.tell();
    if (inner.wait() != 0) return 5;
    return nobody != Anywhere::found && processes.find(1, start) == nobody ? 0 : 6;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(FindProcess, FromAnInnerNamespaceNobodyIsCalledGone) {
  TENURE_NEEDS_ROOT();
  const RealProcesses outer;
  const ProcessIdentity parent = outer.self().identity;
  Child child([&](Child&) {
    if (unshare(CLONE_NEWPID) != 0) return 2;
    Child inner([&](Child&) {
      const RealProcesses blind;
      if (blind.find(1, parent.start_ticks) != Anywhere::unseen) return 3;
      if (!has_own_proc()) return 4;
      const RealProcesses processes;
      const ProcessIdentity& self = processes.self().identity;
      if (processes.find(self.pid, self.start_ticks) != Anywhere::found) return 5;
      if (processes.find(self.pid, self.start_ticks + 1) != Anywhere::unseen) return 6;
      return processes.find(parent.pid, parent.start_ticks) == Anywhere::unseen ? 0 : 7;
    });
    return inner.wait();
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(FindProcess, AStartReadByAnotherClockProvesNothing) {
  TENURE_NEEDS_THE_WHOLE_KERNEL();
  if (RealProcesses().self().identity.time_namespace == 0) GTEST_SKIP() << "NOT TESTED: no time namespaces here";
  Child child([](Child&) {
    if (unshare(CLONE_NEWTIME) != 0) return 2;
    std::ofstream("/proc/self/timens_offsets") << "boottime 5000 0\n" << std::flush;
    Child inner([](Child& self) {
      self.tell();
      return self.told() ? 0 : 1;
    });
    if (!inner.told()) return 3;
    const RealProcesses processes;
    const std::int32_t pid = inner.pid();
    const std::uint64_t start = start_of(processes, pid);
    if (processes.find(pid, start) != Anywhere::found) return 4;
    if (processes.find(pid, start + 500'000) != Anywhere::unseen) return 5;  // what it reads of itself
    inner.tell();
    if (inner.wait() != 0) return 6;
    return processes.find(pid, start + 500'000) == Anywhere::nowhere ? 0 : 7;
  });
  EXPECT_EQ(child.wait(), 0);
}

bool drop_tracing() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  data[0].effective &= ~(1U << CAP_SYS_PTRACE);
  data[0].permitted &= ~(1U << CAP_SYS_PTRACE);
  return syscall(SYS_capset, &header, data) == 0;
}

TEST(FindProcess, WhereProcessesAreHiddenNobodyIsCalledGone) {
  TENURE_NEEDS_THE_WHOLE_KERNEL();
  const auto unseen_by = [](const std::function<bool()>& become) {
    Child child([&](Child&) {
      if (!has_own_proc()) return 77;
      if (mount(nullptr, "/proc", nullptr, MS_REMOUNT, "hidepid=2") != 0) return 77;
      if (RealProcesses().find(kUnused, 1) != Anywhere::nowhere) return 2;  // root sees all the same
      if (!become()) return 3;
      const RealProcesses processes;
      const ProcessIdentity& self = processes.self().identity;
      if (processes.find(self.pid, self.start_ticks) != Anywhere::found) return 4;
      return processes.find(kUnused, 1) == Anywhere::unseen ? 0 : 5;
    });
    return child.wait();
  };
  const int as_another = unseen_by(
      [] { return setgid(kSomebody) == 0 && setuid(kSomebody) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; });
  if (as_another == 77) GTEST_SKIP() << "NOT TESTED: /proc cannot be mounted so that it hides processes";
  EXPECT_EQ(as_another, 0);
  EXPECT_EQ(unseen_by(drop_tracing), 0);
}

TEST(FindProcess, OthersThatComeAndGoDisturbNoSearch) {
  TENURE_NEEDS_THE_WHOLE_KERNEL();
  const RealProcesses processes;
  const ProcessIdentity& self = processes.self().identity;
  std::atomic<bool> over = false;
  std::thread busy([&] {
    while (!over) Child([](Child&) { return 0; }).wait();
  });
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(processes.find(self.pid, self.start_ticks), Anywhere::found);
    EXPECT_EQ(processes.find(kUnused, self.start_ticks), Anywhere::nowhere);
  }
  over = true;
  busy.join();
}

// ---- a /proc of our own making

class MadeProcTest : public testing::Test {
 protected:
  MadeProcTest() {
    self.proc_usable = true;
    self.identity.pid_namespace = kInitial;
    put(1, "Name:\tinit\nNSpid:\t1\n", stat(1, 'S', 1, 2));
    put(40, "Name:\tshell\nNSpid:\t40\n", stat(40, 'S', 1, 400));
    put(50, "Name:\tx\nUid:\t7\t7\t7\t7\nNSpid:\t50\t9\t7\n", stat(50, 'S', 1, 500));
    std::filesystem::create_directory(scratch.at("sys"));
  }
  static std::string stat(int pid, char state, int threads, int start) {
    return std::to_string(pid) + " (a b) " + state + " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 " +
           std::to_string(threads) + " 0 " + std::to_string(start) + " 23\n";
  }
  void put(int pid, std::string_view status, std::string_view stat_line) {
    const std::string folder = std::to_string(pid);
    std::filesystem::create_directories(scratch.at(folder));
    scratch.put(folder + "/status", status);
    scratch.put(folder + "/stat", stat_line);
  }
  Anywhere find(std::int32_t pid, std::uint64_t start) { return find_process(self, pid, start, scratch.path()); }
  // What whoever sees all of the kernel says.
  Anywhere gone() const {
    return geteuid() != 0 || RealProcesses().find(kUnused, 1) == Anywhere::nowhere ? Anywhere::nowhere
                                                                                   : Anywhere::unseen;
  }

  Scratch scratch;
  Standpoint self;
};

TEST_F(MadeProcTest, TheLastNumberIsItsOwn) {
  EXPECT_EQ(find(40, 400), Anywhere::found);
  EXPECT_EQ(find(7, 500), Anywhere::found);
  EXPECT_EQ(find(9, 500), gone()) << "its number in a namespace between";
  EXPECT_EQ(find(50, 500), gone()) << "our number for it, which it cannot know";
  EXPECT_EQ(find(40, 401), gone());
  EXPECT_EQ(find(41, 400), gone());
}

TEST_F(MadeProcTest, AZombieCountsForItsOtherThreads) {
  put(60, "NSpid:\t60\n", stat(60, 'Z', 1, 600));
  EXPECT_EQ(find(60, 600), gone());
  put(60, "NSpid:\t60\n", stat(60, 'Z', 2, 600));
  EXPECT_EQ(find(60, 600), Anywhere::found);
  put(60, "NSpid:\t60\n", stat(60, 'X', 0, 600));
  EXPECT_EQ(find(60, 600), gone());
}

TEST_F(MadeProcTest, OneThatCannotBeReadMayBeTheOne) {
  std::filesystem::create_directories(scratch.at("70/status"));
  EXPECT_EQ(find(7, 501), Anywhere::unseen);
  EXPECT_EQ(find(7, 500), Anywhere::found) << "another was seen all the same";
  std::filesystem::remove_all(scratch.at("70/status"));
  EXPECT_EQ(find(7, 501), gone()) << "it is gone";
  put(70, "Name:\tx\n", stat(70, 'S', 1, 700));
  EXPECT_EQ(find(7, 501), Anywhere::unseen) << "a kernel that does not tell its number";
  put(70, "NSpid:\t70\tx\n", stat(70, 'S', 1, 700));
  EXPECT_EQ(find(7, 501), Anywhere::unseen);
  put(70, "NSpid:\t70\t8\n", "nonsense");
  EXPECT_EQ(find(8, 700), Anywhere::unseen);
  EXPECT_EQ(find(7, 501), gone()) << "whatever it is, it has another number";
}

TEST_F(MadeProcTest, WhoDoesNotSeeAllCallsNobodyGone) {
  self.identity.pid_namespace = kInitial - 1;
  EXPECT_EQ(find(40, 400), Anywhere::found);
  EXPECT_EQ(find(41, 400), Anywhere::unseen);
  self.identity.pid_namespace = kInitial;
  self.proc_usable = false;
  EXPECT_EQ(find(40, 400), Anywhere::unseen);
  EXPECT_EQ(find(41, 400), Anywhere::unseen);
  self.proc_usable = true;
  std::filesystem::remove_all(scratch.at("1"));
  EXPECT_EQ(find(40, 400), Anywhere::found);
  EXPECT_EQ(find(41, 400), Anywhere::unseen);
  EXPECT_EQ(find_process(self, 40, 400, scratch.at("none")), Anywhere::unseen);
}

TEST_F(MadeProcTest, AnotherClockOrOneThatCannotBeAskedProvesNothing) {
  self.identity.time_namespace = RealProcesses().self().identity.time_namespace;
  if (self.identity.time_namespace == 0) GTEST_SKIP() << "NOT TESTED: no time namespaces here";
  EXPECT_EQ(find(40, 401), Anywhere::unseen) << "it does not say";
  std::filesystem::create_directories(scratch.at("40/ns"));
  std::filesystem::create_symlink("/proc/self/ns/time", scratch.at("40/ns/time"));
  EXPECT_EQ(find(40, 401), gone());
  std::filesystem::remove(scratch.at("40/ns/time"));
  std::filesystem::create_symlink("/proc/self/ns/pid", scratch.at("40/ns/time"));
  EXPECT_EQ(find(40, 401), Anywhere::unseen);
  EXPECT_EQ(find(40, 400), Anywhere::found);
}

}  // namespace
}  // namespace tenure::os
