#include "os/linux/probe_child.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <ctime>

namespace tenure::os {
namespace {

using std::chrono::steady_clock;

constexpr Duration kDeathBound = std::chrono::seconds{5};
constexpr int kPollMilliseconds = 2;

int milliseconds_of(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

// The signals of the caller's handlers mean nothing here.
void become_quiet() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

std::optional<ProbeChild> ProbeChild::start(const std::function<void(int channel)>& body) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    ours.reset();
    become_quiet();
    body(theirs.get());
    _exit(0);
  }
  return ProbeChild(pid, std::move(ours));
}

ProbeChild::ProbeChild(ProbeChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}

ProbeChild::~ProbeChild() {
  if (pid_ > 0) kill_and_wait();
}

std::optional<int> ProbeChild::hear(Duration at_most) const {
  const auto end = steady_clock::now() + at_most;
  for (;;) {
    const Duration left = end - steady_clock::now();
    pollfd entry{channel_.get(), POLLIN, 0};
    const int ready = poll(&entry, 1, left.count() > 0 ? milliseconds_of(left) + 1 : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    // Numbers are written in one piece, and a socket of this kind keeps such small ones together.
    int number = 0;
    const auto got = retry_interrupted([&] { return read(channel_.get(), &number, sizeof number); });
    if (got != static_cast<ssize_t>(sizeof number)) return std::nullopt;
    return number;
  }
}

bool ProbeChild::wait_for_end(Duration at_most) {
  const auto end = steady_clock::now() + at_most;
  for (;;) {
    const pid_t got = waitpid(pid_, nullptr, WNOHANG);
    // ECHILD: the host has its children reaped by the kernel, and it is gone.
    if (got == pid_ || (got < 0 && errno == ECHILD)) {
      pid_ = -1;
      return true;
    }
    if (steady_clock::now() >= end) return false;
    poll(nullptr, 0, kPollMilliseconds);
  }
}

bool ProbeChild::kill_and_wait() {
  if (pid_ <= 0) return true;
  kill(pid_, SIGKILL);
  if (wait_for_end(kDeathBound)) return true;
  pid_ = -1;  // nobody can end it; it is left to whoever reaps our children
  return false;
}

void tell(int channel, int number) {
  (void)retry_interrupted([&] { return send(channel, &number, sizeof number, MSG_NOSIGNAL); });
}

void wait_for_parent(int channel) {
  char byte = 0;
  (void)retry_interrupted([&] { return read(channel, &byte, 1); });
}

std::optional<int> result_in_child(const std::function<int()>& call, Duration at_most) {
  auto child = ProbeChild::start([&](int channel) { tell(channel, call()); });
  if (!child) return std::nullopt;
  return child->hear(at_most);
}

}  // namespace tenure::os
