#include "cli/loss_hook.h"

#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/output.h"

namespace tenure::cli {

LossHook LossHook::start(const std::string& command, const Variables& variables, const SignalGate& gate) {
  std::vector<std::string> environment = environment_with(variables);
  std::vector<char*> pointers = pointers_to(environment);
  std::string words = command;
  std::array<char*, 4> arguments{const_cast<char*>("sh"), const_cast<char*>("-c"), words.data(), nullptr};
  ::posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  const sigset_t mask = gate.mask_before();
  sigset_t plain;
  sigemptyset(&plain);
  sigaddset(&plain, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setsigdefault(&attributes, &plain);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  LossHook hook;
  const int failed = ::posix_spawn(&hook.pid_, "/bin/sh", nullptr, &attributes, arguments.data(), pointers.data());
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    hook.pid_ = -1;
    complain(std::string("tenure: cannot run what --on-lost says: ") + std::strerror(failed) + "\n");
    return hook;
  }
  hook.descriptor_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, hook.pid_, 0)));
  return hook;
}

LossHook::LossHook(LossHook&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::move(other.descriptor_)) {}

LossHook& LossHook::operator=(LossHook&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

LossHook::~LossHook() {
  kill();
}

void LossHook::reap() {
  if (pid_ <= 0 || ::waitpid(pid_, nullptr, WNOHANG) == 0) return;
  pid_ = -1;
  descriptor_.reset();
}

void LossHook::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // its group, which it leads
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  descriptor_.reset();
}

}  // namespace tenure::cli
