#include "cli/hook.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/output.h"

namespace tenure::cli {

namespace {

// The standard output of a hook that is listened to: a file in memory, which never keeps it waiting for us.
class Streams {
 public:
  explicit Streams(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    if (output >= 0) ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { ::posix_spawn_file_actions_destroy(&actions_); }
  const ::posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  ::posix_spawn_file_actions_t actions_;
};

}  // namespace

Hook Hook::start(std::string_view option, const std::string& command, const Variables& variables,
                 const SignalGate& gate, bool listening) {
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
  Hook hook;
  if (listening) hook.output_ = Descriptor(::memfd_create("tenure-hook", MFD_CLOEXEC));
  const Streams streams(hook.output_.get());
  const int failed =
      ::posix_spawn(&hook.pid_, "/bin/sh", streams.get(), &attributes, arguments.data(), pointers.data());
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    hook.pid_ = -1;
    complain("tenure: cannot run what " + std::string(option) + " says: " + std::strerror(failed) + "\n");
    return hook;
  }
  hook.descriptor_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, hook.pid_, 0)));
  return hook;
}

Hook::Hook(Hook&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      descriptor_(std::move(other.descriptor_)),
      output_(std::move(other.output_)) {}

Hook& Hook::operator=(Hook&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(output_, other.output_);
  return *this;
}

Hook::~Hook() {
  kill();
}

std::optional<int> Hook::reap() {
  int status = 0;
  if (pid_ <= 0) return std::nullopt;
  const ::pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
  if (reaped == 0) return std::nullopt;
  pid_ = -1;
  descriptor_.reset();
  return reaped > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Hook::first_line(std::size_t most) const {
  std::string text(most, '\0');
  const auto got = output_.open() ? ::pread(output_.get(), text.data(), text.size(), 0) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

void Hook::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // its group, which it leads
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  descriptor_.reset();
}

}  // namespace tenure::cli
