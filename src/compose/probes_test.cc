#include "compose/probes.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>

namespace tenure::compose {
namespace {

namespace fs = std::filesystem;
using Finding = Probe::Finding;

const Probe* find(const std::vector<Probe>& probes, const std::string& name) {
  const auto found = std::ranges::find(probes, name, &Probe::name);
  return found == probes.end() ? nullptr : &*found;
}

Finding finding_of(const std::vector<Probe>& probes, const std::string& name) {
  const Probe* probe = find(probes, name);
  EXPECT_NE(probe, nullptr) << name;
  return probe == nullptr ? Finding::bad : probe->finding;
}

class Probes : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "probes-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<Probe> probe() const { return probe_all("files:" + folder_); }

  // `check` says what is wrong in a child that was changed by `change`; empty: nothing. nullopt: it could not be
  // changed, for want of rights.
  static std::optional<std::string> in_child(const std::function<bool()>& change,
                                             const std::function<std::string()>& check) {
    int ends[2];
    if (pipe(ends) != 0) return "pipe";
    const pid_t child = fork();
    if (child == 0) {
      if (!change()) _exit(77);
      const std::string wrong = check();
      const bool told = write(ends[1], wrong.data(), wrong.size()) == static_cast<ssize_t>(wrong.size());
      _exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::string wrong(4096, '\0');
    const ssize_t got = read(ends[0], wrong.data(), wrong.size());
    close(ends[0]);
    int status = 0;
    if (waitpid(child, &status, 0) != child) return "no child";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return std::nullopt;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return "the child ended with status " + std::to_string(status);
    wrong.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return wrong;
  }
  static std::string expect(const std::vector<Probe>& probes, const std::string& name, Finding finding) {
    const Probe* probe = find(probes, name);
    if (probe == nullptr) return "no probe " + name;
    if (probe->finding == finding) return {};
    return name + " is " + std::string(word_of(probe->finding)) + ": " + probe->evidence;
  }

  std::string folder_;
};

TEST_F(Probes, EachSaysWhatWasSeenAndWhatToDo) {
  for (const Probe& probe : probe()) {
    EXPECT_FALSE(probe.name.empty());
    EXPECT_FALSE(probe.promise.empty()) << probe.name;
    EXPECT_FALSE(probe.evidence.empty()) << probe.name;
    EXPECT_EQ(probe.remedy.empty(), probe.finding == Finding::good) << probe.name << ": " << probe.remedy;
  }
}

TEST_F(Probes, APrivateFolderOfThisMachineCarriesEveryLock) {
  const auto probes = probe();
  for (const char* name : {"folder", "overwrite", "replace", "rename flags", "durability", "flock", "life lock",
                           "watch", "record locks", "clocks", "random bytes", "AgentMux"}) {
    const Probe* probe = find(probes, name);
    ASSERT_NE(probe, nullptr) << name;
    EXPECT_EQ(probe->finding, Finding::good) << name << ": " << probe->evidence;
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Probes, WhatAKilledDoctorLeftIsRemoved) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  const std::string left = folder_ + "/.tenure-probe-" + std::to_string(gone) + "-abcdef";
  fs::create_directory(left);
  std::ofstream(left + "/probe.life") << "x";
  probe();
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Probes, AnOpenFolderIsBadAndTheRemedyHelps) {
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  const auto probes = probe();
  EXPECT_EQ(finding_of(probes, "folder"), Finding::bad);
  EXPECT_NE(find(probes, "folder")->remedy.find("chmod o-w"), std::string::npos);
  ASSERT_EQ(chmod(folder_.c_str(), 0770), 0);
  EXPECT_EQ(finding_of(probe(), "folder"), Finding::bad);
  EXPECT_EQ(finding_of(probe_all("files:" + folder_ + "?group=yes"), "folder"), Finding::good);
  const std::string inner = folder_ + "/leases";
  ASSERT_EQ(mkdir(inner.c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  ASSERT_EQ(chmod(inner.c_str(), 0777), 0);
  EXPECT_EQ(finding_of(probe(), "folder"), Finding::bad);
}

TEST_F(Probes, AFolderUnderAnOpenOneIsBad) {
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  ASSERT_EQ(mkdir((folder_ + "/inner").c_str(), 0700), 0);
  EXPECT_EQ(finding_of(probe_all("files:" + folder_ + "/inner"), "folder above"), Finding::bad);
}

TEST_F(Probes, AFolderThatIsNotThereYetIsTriedAboveAndNotMade) {
  const auto probes = probe_all("files:" + folder_ + "/a/b");
  EXPECT_EQ(finding_of(probes, "space"), Finding::limited);
  EXPECT_EQ(finding_of(probes, "flock"), Finding::good);
  EXPECT_TRUE(fs::is_empty(folder_));
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(finding_of(probe_all("files:" + folder_ + "/a/b"), "folder above"), Finding::bad);
}

TEST_F(Probes, ABadUrlIsAFinding) {
  EXPECT_EQ(finding_of(probe_all("nonsense"), "space"), Finding::bad);
  EXPECT_EQ(finding_of(probe_all("memory:"), "space"), Finding::good);
}

TEST_F(Probes, ProcCarriesNoSpace) {
  const auto probes = probe_all("files:/proc/self");
  EXPECT_EQ(finding_of(probes, "file system"), Finding::bad);
  EXPECT_EQ(finding_of(probes, "files"), Finding::bad);
}

TEST_F(Probes, RecordsOfAgentMuxAreNamed) {
  ASSERT_EQ(mkdir((folder_ + "/leases").c_str(), 0700), 0);
  const std::string path = folder_ + "/leases/session-7.lease.json";
  std::ofstream(path) << R"({"instance_id":"session-7","owner_boot_id":"b","block_id":"c","session_id":null,"pid":1,)"
                      << R"("acquired_at_ms":1,"renewed_at_ms":1,"epoch":1,"hostname":"h","pid_start_s":0,)"
                      << R"("channel":"c","version":"v","claim_id":"d"})";
  chmod(path.c_str(), 0600);
  const auto probes = probe();
  const Probe* found = find(probes, "AgentMux");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->finding, Finding::limited);
  EXPECT_NE(found->evidence.find("session-7"), std::string::npos);
  EXPECT_EQ(finding_of(probe_all("files:" + folder_ + "?expiry=age"), "AgentMux"), Finding::limited);
}

TEST_F(Probes, TmpfsTellsWhatIsLost) {
  const auto wrong = in_child(
      [&] {
        return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", folder_.c_str(), "tmpfs", 0, "mode=0700,size=2m,nr_inodes=100") == 0;
      },
      [&] {
        const auto probes = probe();
        return expect(probes, "file system", Finding::limited) + expect(probes, "room", Finding::limited) +
               expect(probes, "life lock", Finding::good);
      });
  if (!wrong) GTEST_SKIP() << "mounting needs root";
  EXPECT_EQ(*wrong, "");
}

TEST_F(Probes, AReadOnlyMountIsBad) {
  const auto wrong = in_child(
      [&] {
        return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("tmpfs", folder_.c_str(), "tmpfs", MS_RDONLY, "mode=0700") == 0;
      },
      [&] {
        const auto probes = probe();
        return expect(probes, "room", Finding::bad) + expect(probes, "files", Finding::bad);
      });
  if (!wrong) GTEST_SKIP() << "mounting needs root";
  EXPECT_EQ(*wrong, "");
}

// The pid namespace of our children is new, the /proc is the old one: its numbers mean nothing to them.
TEST_F(Probes, AnInnerPidNamespaceWithTheOuterProcIsBad) {
  const auto wrong = in_child([] { return unshare(CLONE_NEWPID) == 0; },
                              [&] {
                                const auto inner = in_child([] { return true; },
                                                            [&] {
                                                              const auto probes = probe();
                                                              return expect(probes, "/proc", Finding::bad) +
                                                                     expect(probes, "pid namespace", Finding::limited) +
                                                                     expect(probes, "life lock", Finding::good);
                                                            });
                                return inner ? *inner : std::string("not started");
                              });
  if (!wrong) GTEST_SKIP() << "a pid namespace needs root";
  EXPECT_EQ(*wrong, "");
}

TEST_F(Probes, StarvedOfDescriptorsItStillAnswers) {
  for (const rlim_t limit : {0U, 4U, 5U, 6U, 7U, 9U, 12U}) {
    const auto wrong = in_child(
        [&] {
          const rlimit few{limit, limit};
          return setrlimit(RLIMIT_NOFILE, &few) == 0;
        },
        [&] {
          const auto probes = probe();
          return expect(probes, "open files", Finding::bad) +
                 (limit < 4 ? expect(probes, "flock", Finding::bad) : std::string());
        });
    ASSERT_TRUE(wrong);
    EXPECT_EQ(*wrong, "") << limit;
    EXPECT_TRUE(fs::is_empty(folder_)) << limit;
  }
}

bool filter_call(std::uint32_t number, std::uint32_t action) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offsetof(seccomp_data, nr))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(Probes, AFilterThatRefusesOrKillsIsAFinding) {
  const auto refused = in_child([] { return filter_call(SYS_futex_waitv, SECCOMP_RET_ERRNO | EPERM); },
                                [&] {
                                  const auto probes = probe();
                                  return expect(probes, "futex_waitv", Finding::limited) +
                                         expect(probes, "seccomp", Finding::limited) +
                                         expect(probes, "pidfd", Finding::good);
                                });
  ASSERT_TRUE(refused);
  EXPECT_EQ(*refused, "");
  const auto killed = in_child([] { return filter_call(SYS_getrandom, SECCOMP_RET_KILL_PROCESS); },
                               [&] { return expect(probe_all("memory:"), "random bytes", Finding::bad); });
  ASSERT_TRUE(killed);
  EXPECT_EQ(*killed, "");
}

TEST_F(Probes, WithoutChildProcessesItStillAnswers) {
  const auto wrong = in_child(
      [&] {
        const rlimit none{0, 0};
        // Root is not bound by this limit; nobody is.
        if (chmod(folder_.c_str(), 0700) != 0 || chown(folder_.c_str(), 65534, 65534) != 0) return false;
        return setrlimit(RLIMIT_NPROC, &none) == 0 && setresgid(65534, 65534, 65534) == 0 &&
               setresuid(65534, 65534, 65534) == 0;
      },
      [&] {
        const auto probes = probe();
        return expect(probes, "processes", Finding::limited) + expect(probes, "life lock", Finding::bad) +
               expect(probes, "flock", Finding::good);
      });
  if (!wrong) GTEST_SKIP() << "changing the user needs root";
  EXPECT_EQ(*wrong, "");
}

}  // namespace
}  // namespace tenure::compose
