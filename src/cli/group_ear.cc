#include "cli/group_ear.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace tenure::cli {
namespace {

// For an answer that takes microseconds.
constexpr ::timeval kPatience{5, 0};

// Each byte asks for a signal; the answer is whether it was pending, which it then is no longer. Async-signal-safe
// calls only: it is the child of a process with threads.
[[noreturn]] void stand_and_listen(::pid_t parent, int socket) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  if (socket > 0) ::close_range(0, static_cast<unsigned>(socket) - 1, 0);
  ::close_range(static_cast<unsigned>(socket) + 1, ~0U, 0);
  unsigned char signal = 0;
  while (::recv(socket, &signal, 1, 0) == 1) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, signal);
    const ::timespec no_time{0, 0};
    const unsigned char heard = ::sigtimedwait(&wanted, nullptr, &no_time) == signal ? 1 : 0;
    ::send(socket, &heard, 1, MSG_NOSIGNAL);
  }
  ::_exit(0);
}

}  // namespace

GroupEar::GroupEar() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  socket_.reset(ends[0]);
  Descriptor ear(ends[1]);
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  const ::pid_t parent = ::getpid();
  // The mask is inherited: all that `run` cares about is blocked there from the first moment.
  pid_ = ::fork();
  if (pid_ == 0) stand_and_listen(parent, ear.get());
}

GroupEar::~GroupEar() {
  dismiss();
}

void GroupEar::dismiss() {
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
  const auto wanted = static_cast<unsigned char>(signal);
  unsigned char answer = 0;
  const bool answered =
      ::send(socket_.get(), &wanted, 1, MSG_NOSIGNAL) == 1 && ::recv(socket_.get(), &answer, 1, 0) == 1;
  // One that does not answer is of no use, and a late answer would be taken for another one's.
  if (!answered) dismiss();
  return answered && answer == 1;
}

}  // namespace tenure::cli
