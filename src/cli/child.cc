#include "cli/child.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "cli/exec_words.h"

namespace tenure::cli {
namespace {

// What the child has of its parent: a pipe on which it is told to begin, and one on which it tells why it could not.
struct Line {
  Descriptor read_end;
  Descriptor write_end;

  static Result<Line> open() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error(errno, "cannot make a pipe"));
    return Line{Descriptor(ends[0]), Descriptor(ends[1])};
  }
};

struct Prepared {
  char** command;
  char** environment;
  const std::vector<int>& life;
  ::pid_t parent;
  int begin;      // to be read
  int begin_end;  // the parent's end of it, which the child must not keep
  int report;     // to be written
};

// Between fork and exec: async-signal-safe calls only, for the keeper's thread may have held any lock.
[[noreturn]] void become(const Prepared& plan, const SignalGate& gate) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have died before the call above: then nobody would tell us any more.
  if (::getppid() != plan.parent) ::_exit(127);
  ::close(plan.begin_end);
  char word = 0;
  if (::read(plan.begin, &word, 1) != 1) ::_exit(127);
  for (const int each : plan.life) ::fcntl(each, F_SETFD, 0);
  gate.restore();
  ::execvpe(plan.command[0], plan.command, plan.environment);
  const int why = errno;
  (void)!::write(plan.report, &why, sizeof why);
  ::_exit(127);
}

// As fork(2). By clone3(2) directly: the child calls nothing of libc that would have to know.
::pid_t fork_into(int group) {
  ::clone_args how{};
  how.flags = CLONE_INTO_CGROUP;
  how.exit_signal = SIGCHLD;
  how.cgroup = static_cast<std::uint64_t>(group);
  return static_cast<::pid_t>(::syscall(SYS_clone3, &how, sizeof how));
}

::pid_t fork_for(const ChildPlan& plan) {
  if (plan.group < 0) return ::fork();
  const ::pid_t pid = fork_into(plan.group);
  return pid < 0 && !plan.only_in_group ? ::fork() : pid;
}

// True: something can be read. False: the other end of the socket was closed before.
bool wait_for_report(int descriptor, int until_closed) {
  std::array<::pollfd, 2> polled = {{{descriptor, POLLIN, 0}, {until_closed, 0, 0}}};
  while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
  }
  return polled[0].revents != 0 || polled[1].revents == 0;
}

// 0: the exec went through, for then the pipe was closed without a word.
int reported(int descriptor) {
  int why = 0;
  ::ssize_t got = 0;
  do {
    got = ::read(descriptor, &why, sizeof why);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<::ssize_t>(sizeof why) ? why : 0;
}

void wait_for(::pid_t pid) {
  ::siginfo_t info{};
  while (::waitid(P_PID, static_cast<::id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

Child::NotStarted not_started(int number, const std::string& program) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  return {missing ? 127 : 126, "cannot run " + escape_controls(program) + ": " + std::strerror(number)};
}

}  // namespace

std::expected<Child, Child::NotStarted> Child::start(const ChildPlan& plan, const SignalGate& gate,
                                                     const std::function<bool(int pid)>& ready, int until_closed) {
  std::vector<std::string> words = plan.command;
  std::vector<std::string> environment = environment_with(plan.variables);
  std::vector<char*> word_pointers = pointers_to(words);
  std::vector<char*> environment_pointers = pointers_to(environment);
  auto begin = Line::open();
  auto report = Line::open();
  if (!begin || !report) return std::unexpected(not_started(EMFILE, words[0]));
  const Prepared prepared{word_pointers.data(),  environment_pointers.data(), plan.life_descriptors,  ::getpid(),
                          begin->read_end.get(), begin->write_end.get(),      report->write_end.get()};
  const ::pid_t pid = fork_for(plan);
  if (pid < 0) return std::unexpected(not_started(errno, words[0]));
  if (pid == 0) become(prepared, gate);
  const bool go = ready(pid);
  report->write_end.reset();
  if (go) (void)!::write(begin->write_end.get(), "", 1);
  begin->write_end.reset();
  // It may be stopped, and could then neither begin nor end by itself.
  const bool called_off = !go || !wait_for_report(report->read_end.get(), until_closed);
  if (called_off) ::kill(pid, SIGKILL);
  const int why = called_off ? 0 : reported(report->read_end.get());
  if (!called_off && why == 0) return Child(pid);
  wait_for(pid);
  return std::unexpected(why == 0 ? NotStarted{0, {}} : not_started(why, words[0]));
}

}  // namespace tenure::cli
