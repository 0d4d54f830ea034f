#include "cli/signals.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace tenure::cli {
namespace {

constexpr std::array kGated = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr std::array kOfTheScreen = {SIGTSTP, SIGCONT, SIGWINCH};
constexpr std::array kOfTheJob = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGCHLD};

bool ignored(int number) {
  struct sigaction now{};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Result<SignalGate> SignalGate::close_gate() {
  SignalGate gate;
  sigset_t gated;
  sigemptyset(&gated);
  sigemptyset(&gate.ignored_before_);
  for (const int number : kGated) {
    sigaddset(&gated, number);
    if (ignored(number)) sigaddset(&gate.ignored_before_, number);
  }
  ::pthread_sigmask(SIG_BLOCK, &gated, &gate.mask_before_);
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, &gate.child_before_);
  plain.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &plain, &gate.pipe_before_);
  gate.descriptor_ = Descriptor(::signalfd(-1, &gated, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!gate.descriptor_.open()) return fail(system_error(errno, "cannot take signals from a descriptor"));
  return gate;
}

void SignalGate::take_too(std::span<const int> others) {
  sigset_t gated;
  sigemptyset(&gated);
  for (const int number : kGated) sigaddset(&gated, number);
  for (const int number : others) sigaddset(&gated, number);
  ::pthread_sigmask(SIG_BLOCK, &gated, nullptr);
  ::signalfd(descriptor_.get(), &gated, 0);
}

void SignalGate::widen() {
  take_too(kOfTheJob);
}

void SignalGate::watch_screen() {
  take_too(kOfTheScreen);
}

std::optional<Signal> SignalGate::take() {
  if (!put_back_.empty()) {
    const Signal first = put_back_.front();
    put_back_.pop_front();
    return first;
  }
  return take_new();
}

bool SignalGate::ends_a_wait(const Signal& signal) const {
  return std::ranges::find(kGated, signal.number) != kGated.end() && !inert(signal.number);
}

std::optional<Signal> SignalGate::take_new() const {
  ::signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != static_cast<::ssize_t>(sizeof info)) return std::nullopt;
  const bool by_process = info.ssi_code <= 0;
  return Signal{static_cast<int>(info.ssi_signo), by_process, by_process ? static_cast<int>(info.ssi_pid) : 0};
}

bool SignalGate::inert(int number) const {
  return sigismember(&ignored_before_, number) == 1 || sigismember(&mask_before_, number) == 1;
}

void SignalGate::restore() const noexcept {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

const char* name_of_signal(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? name : "?";
}

void stop_by(int number) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  ::kill(::getpid(), number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
}

void die_of(int number) {
  const ::rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_DUMPABLE, 0);
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(number, &plain, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(number);
  ::_exit(128 + number);
}

}  // namespace tenure::cli
