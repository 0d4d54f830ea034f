#include "os/linux/real_processes.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <time.h>

#include <thread>

#include "os/linux/proc_files.h"
#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

using Existence = ProcessSight::Existence;
using Stat = ProcessSight::Stat;

TEST(Standpoint, NamesThisVeryProcess) {
  const RealProcesses processes;
  const Standpoint& self = processes.self();
  EXPECT_EQ(self.identity.pid, getpid());
  EXPECT_EQ(self.identity.user, geteuid());
  ASSERT_TRUE(self.proc_usable);
  EXPECT_EQ(self.identity.start_ticks, parse_proc_stat(read_proc_file("/proc/self/stat").bytes)->start_ticks);
  EXPECT_EQ(self.identity.boot_id.size(), 36U);
  EXPECT_NE(self.identity.pid_namespace, 0U);
  EXPECT_NE(self.identity.time_namespace, 0U);
  EXPECT_NE(self.identity.pid_namespace, self.identity.time_namespace);
  EXPECT_FALSE(self.host.empty());
  EXPECT_NE(self.command.find("os_test"), std::string::npos) << self.command;
  EXPECT_EQ(self.directory, std::filesystem::current_path().string());
  EXPECT_FALSE(self.user_name.empty());
}

TEST(Processes, KnowsAForkedChild) {
  const RealProcesses processes;
  EXPECT_FALSE(processes.forked());
  Child child([&](Child&) { return processes.forked() ? 0 : 1; });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Look, ARunningProcess) {
  const RealProcesses processes;
  Child child([](Child& self) { return self.told() ? 0 : 1; });
  const ProcessSight sight = processes.look(child.pid());
  EXPECT_EQ(sight.existence, Existence::exists);
  EXPECT_EQ(sight.stat, Stat::read);
  EXPECT_GE(sight.start_ticks, processes.self().identity.start_ticks);
  EXPECT_TRUE(sight.state == 'S' || sight.state == 'R') << sight.state;
  EXPECT_LE(std::llabs(static_cast<long long>(sight.start_wall_seconds) - time(nullptr)), 60);
  EXPECT_EQ(processes.look(child.pid()).start_ticks, sight.start_ticks);
}

TEST(Look, L8_AZombieHasNoLivingThread) {
  const RealProcesses processes;
  Child child([](Child&) { return 0; });
  ASSERT_TRUE(child.ended());
  const ProcessSight sight = processes.look(child.pid());
  EXPECT_EQ(sight.existence, Existence::exists);
  EXPECT_EQ(sight.state, 'Z');
  EXPECT_TRUE(sight.threads_counted);
  EXPECT_EQ(sight.other_threads, 0U);
  const auto identity = processes.identify(child.pid());
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().code, Code::not_held);
}

TEST(Look, L8_AnEndedMainThreadIsNotTheEndOfTheOthers) {
  const RealProcesses processes;
  Child child([](Child& self) {
    std::thread([&self] {
      self.tell();
      _exit(self.told() ? 7 : 1);
    }).detach();
    syscall(SYS_exit, 0);  // this thread alone
    return 2;
  });
  ASSERT_TRUE(child.told());
  ASSERT_TRUE(eventually([&] { return processes.look(child.pid()).state == 'Z'; }));
  const ProcessSight sight = processes.look(child.pid());
  EXPECT_TRUE(sight.threads_counted);
  EXPECT_EQ(sight.other_threads, 1U);
  EXPECT_TRUE(processes.identify(child.pid()));
  child.tell();
  EXPECT_EQ(child.wait(), 7) << "it was alive all the while";
}

TEST(Look, L1_AStoppedProcessExists) {
  const RealProcesses processes;
  Child child([](Child& self) { return self.told() ? 0 : 1; });
  ASSERT_TRUE(child.stop());
  const ProcessSight sight = processes.look(child.pid());
  EXPECT_EQ(sight.existence, Existence::exists);
  EXPECT_EQ(sight.state, 'T');
}

TEST(Look, AnEndedProcessIsAbsent) {
  const RealProcesses processes;
  Child child([](Child&) { return 0; });
  const pid_t pid = child.pid();
  ASSERT_EQ(child.wait(), 0);
  const ProcessSight sight = processes.look(pid);
  EXPECT_EQ(sight.existence, Existence::absent);
  EXPECT_EQ(sight.stat, Stat::absent);
  EXPECT_EQ(processes.identify(pid).error().code, Code::not_held);
  EXPECT_EQ(processes.death_descriptor(pid), -1);
  EXPECT_EQ(processes.command_of(pid), "");
}

TEST(Look, ANumberOfNoProcessTellsNothing) {
  const RealProcesses processes;
  for (const std::int32_t pid : {0, -1, -4711}) {
    EXPECT_EQ(processes.look(pid).existence, Existence::cannot_tell) << pid;
    EXPECT_EQ(processes.look(pid).stat, Stat::unusable) << pid;
    EXPECT_EQ(processes.death_descriptor(pid), -1);
  }
}

TEST(Look, WithoutPidfdTheOlderCallDecides) {
  Child child([](Child&) {
    const RealProcesses processes;
    if (!forbid(SYS_pidfd_open, 0, ENOSYS)) return 2;
    if (processes.death_descriptor(getpid()) != -1) return 3;
    return processes.look(getpid()).existence == Existence::exists ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Look, M8_AHiddenProcessExistsThoughProcDoesNotShowIt) {
  TENURE_NEEDS_ROOT();
  Child child([](Child&) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
    if (mount("proc", "/proc", "proc", 0, "hidepid=2") != 0) return 3;
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 4;
    const RealProcesses processes;
    const ProcessSight sight = processes.look(1);
    if (!processes.self().proc_usable) return 5;
    if (sight.stat != Stat::absent) return 6;
    return sight.existence == Existence::exists ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

// Runs `body` as the first process of a new pid namespace, with the outer /proc still mounted.
int in_pid_namespace(const std::function<int()>& body) {
  Child outer([&](Child&) {
    if (unshare(CLONE_NEWPID) != 0) return 90;
    Child inner([&](Child&) { return body(); });
    return inner.wait();
  });
  return outer.wait();
}

TEST(Standpoint, M7_AProcOfAnotherPidNamespaceIsNoEvidence) {
  TENURE_NEEDS_ROOT();
  const std::uint64_t outer_namespace = RealProcesses().self().identity.pid_namespace;
  EXPECT_EQ(in_pid_namespace([&] {
              const RealProcesses processes;
              const Standpoint& self = processes.self();
              if (self.proc_usable || self.identity.start_ticks != 0) return 1;
              if (self.identity.pid != 1) return 2;
              // Process 1 of the outer /proc is somebody else.
              if (processes.look(1).stat != Stat::unusable || processes.look(1).existence != Existence::exists)
                return 3;
              if (!processes.command_of(1).empty() || !processes.directory_of(1).empty()) return 4;
              return self.identity.pid_namespace != 0 && self.identity.pid_namespace != outer_namespace ? 0 : 5;
            }),
            0);
}

TEST(Standpoint, M4_AnInnerNamespaceWithItsOwnProcIsAnotherPlace) {
  TENURE_NEEDS_ROOT();
  const std::uint64_t outer_namespace = RealProcesses().self().identity.pid_namespace;
  EXPECT_EQ(in_pid_namespace([&] {
              if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
              if (mount("proc", "/proc", "proc", 0, nullptr) != 0) return 3;
              const RealProcesses processes;
              const Standpoint& self = processes.self();
              if (!self.proc_usable || self.identity.start_ticks == 0) return 4;
              return self.identity.pid_namespace != outer_namespace ? 0 : 5;
            }),
            0);
}

TEST(Standpoint, M6_WithoutProcNothingIsEvidence) {
  TENURE_NEEDS_ROOT();
  Child child([](Child&) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
    if (mount("tmpfs", "/proc", "tmpfs", 0, nullptr) != 0) return 3;
    const RealProcesses processes;
    const ProcessSight sight = processes.look(1);
    if (processes.self().proc_usable || processes.self().identity.pid != getpid()) return 4;
    return sight.existence == Existence::exists && sight.stat == Stat::unusable ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Identify, NumbersAreThoseSeenFromHere) {
  const RealProcesses processes;
  Child child([](Child& self) { return self.told() ? 0 : 1; });
  const auto identity = processes.identify(child.pid());
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->pid, child.pid());
  EXPECT_EQ(identity->start_ticks, processes.look(child.pid()).start_ticks);
  EXPECT_EQ(identity->boot_id, processes.self().identity.boot_id);
  EXPECT_EQ(identity->pid_namespace, processes.self().identity.pid_namespace);
  EXPECT_EQ(identity->user, geteuid());
  EXPECT_EQ(*processes.identify(getpid()), processes.self().identity);
}

TEST(Identify, ShowsTheEffectiveUser) {
  TENURE_NEEDS_ROOT();
  const RealProcesses processes;
  Child child([](Child& self) {
    if (seteuid(65534) != 0) return 2;
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(processes.identify(child.pid())->user, 65534U);
}

TEST(Processes, CommandAndDirectoryOfAnother) {
  const RealProcesses processes;
  Scratch scratch;
  Child child([&](Child& self) {
    if (chdir(scratch.path().c_str()) != 0) return 2;
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(processes.directory_of(child.pid()), scratch.path());
  EXPECT_EQ(processes.command_of(child.pid()), processes.self().command);
}

TEST(Processes, ADeathDescriptorBecomesReadable) {
  const RealProcesses processes;
  Child child([](Child& self) { return self.told() ? 0 : 1; });
  const Fd death(processes.death_descriptor(child.pid()));
  ASSERT_TRUE(death);
  EXPECT_NE(fcntl(death.get(), F_GETFD) & FD_CLOEXEC, 0);
  pollfd entry{death.get(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0) << "it lives";
  child.tell();
  EXPECT_EQ(poll(&entry, 1, kPatienceMs), 1);
}

}  // namespace
}  // namespace tenure::os
