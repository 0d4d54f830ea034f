// For the tests of the real ports: a folder that goes away again, and children that tell where they are.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "os/linux/fd.h"
#include "os/linux/real_directory.h"

namespace tenure::os {

// The generous bound of every wait in these tests.
inline constexpr int kPatienceMs = 30'000;

class Scratch {
 public:
  Scratch() {
    std::string pattern = "/tmp/tenure-os-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  void put(const std::string& name, std::string_view bytes, mode_t mode = 0600) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
    ::chmod(at(name).c_str(), mode);
  }
  std::string get(const std::string& name) const {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has(const std::string& name) const {
    struct stat status{};
    return lstat(at(name).c_str(), &status) == 0;
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  std::unique_ptr<RealDirectory> open(FolderChecks checks = {}) const {
    auto opened = RealDirectory::open(path_, false, checks);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : nullptr;
  }

 private:
  std::string path_;
};

// A forked child that runs `body` and ends with its result. Both sides can tell each other to go on.
class Child {
 public:
  explicit Child(const std::function<int(Child&)>& body) {
    int up[2];
    int down[2];
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0) abort();
    pid_ = fork();
    if (pid_ == 0) {
      read_ = Fd(down[0]), write_ = Fd(up[1]);
      ::close(down[1]), ::close(up[0]);
      _exit(body(*this));
    }
    read_ = Fd(up[0]), write_ = Fd(down[1]);
    ::close(up[1]), ::close(down[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  // To the other side.
  void tell() { EXPECT_EQ(write(write_.get(), "!", 1), 1); }
  // From the other side: true when it told, false when its end was closed instead.
  bool told() {
    pollfd entry{read_.get(), POLLIN, 0};
    char byte = 0;
    return poll(&entry, 1, kPatienceMs) == 1 && read(read_.get(), &byte, 1) == 1;
  }
  // The other side closed its end: it has ended, called exec, or closed everything.
  bool silent() {
    pollfd entry{read_.get(), POLLIN, 0};
    char byte = 0;
    return poll(&entry, 1, kPatienceMs) == 1 && read(read_.get(), &byte, 1) == 0;
  }
  void close_pipes() { read_.reset(), write_.reset(); }

  // In the parent: the exit code, or 1000 + the signal.
  int wait() {
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) return -1;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  // Waits until it is a zombie, and leaves it one.
  bool ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0;
  }
  bool stop() const {
    siginfo_t info{};
    return kill(pid_, SIGSTOP) == 0 && waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOWAIT) == 0;
  }

 private:
  pid_t pid_ = -1;
  Fd read_;
  Fd write_;
};

// Asks again and again until it is so, within the bound.
inline bool eventually(const std::function<bool()>& so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{kPatienceMs};
  while (std::chrono::steady_clock::now() < end) {
    if (so()) return true;
    sched_yield();
  }
  return so();
}

// In a child: makes a system call fail with `error` where (argument 2 & mask) == mask; a mask of 0: always.
inline bool forbid(long call, std::uint32_t mask, int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mask, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#define TENURE_NEEDS_ROOT() \
  if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can make what this test looks at"

}  // namespace tenure::os
