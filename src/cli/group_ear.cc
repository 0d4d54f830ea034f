#include "cli/group_ear.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "cli/files.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kStatusBytes = 65536;
constexpr std::string_view kPending = "ShdPnd:";

[[noreturn]] void stand_and_listen(::pid_t parent) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // A signal that is ignored and blocked is kept all the same, so the dispositions need no care.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::close_range(0, ~0U, 0);
  while (true) ::pause();
}

// Bit n-1 is set for each pending signal n of the process as a whole.
unsigned long long pending_of(int pid) {
  auto file = open_to_read("/proc/" + std::to_string(pid) + "/status");
  if (!file) return 0;
  const std::string status = read_all(file->number(), kStatusBytes, "status").value_or("");
  const std::size_t at = status.find(kPending);
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + kPending.size(), nullptr, 16);
}

}  // namespace

GroupEar::GroupEar() {
  raise_ear();
}

GroupEar::~GroupEar() {
  drop();
}

void GroupEar::raise_ear() {
  const ::pid_t parent = ::getpid();
  // The mask is inherited: all that `run` cares about is blocked from the first moment.
  pid_ = ::fork();
  if (pid_ == 0) stand_and_listen(parent);
}

void GroupEar::drop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool GroupEar::heard(int signal) {
  if (pid_ <= 0) return false;
  // The kernel hands a signal to the members of a group one after another, under a lock that setpgid takes as well:
  // when it returns, all of them have it. Nothing is changed by it.
  ::setpgid(pid_, ::getpgrp());
  const bool found = ((pending_of(pid_) >> (signal - 1)) & 1U) != 0;
  if (found) {
    // A fresh one, which has nothing pending.
    drop();
    raise_ear();
  }
  return found;
}

}  // namespace tenure::cli
