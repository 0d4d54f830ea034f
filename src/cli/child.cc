#include "cli/child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kChildStack = 64 * 1024;

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) {
    bool replaced = false;
    for (const auto& [name, value] : variables) replaced |= std::string_view(*each).starts_with(name + "=");
    if (!replaced) out.emplace_back(*each);
  }
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& each : strings) out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

// What the child reads, and where it says why it could not become the command: it runs in our memory, while we stand
// still, until it does.
struct Prepared {
  char** command;
  char** environment;
  int life;
  ::pid_t parent;
  const SignalGate& gate;
  int why_not = 0;
};

// Between clone and exec: nothing that allocates, locks or keeps state, for it would be in our memory.
int become(void* prepared) {
  Prepared& plan = *static_cast<Prepared*>(prepared);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before the call above: then nobody would tell us any more.
  if (::getppid() != plan.parent) ::_exit(127);
  if (plan.life >= 0) ::fcntl(plan.life, F_SETFD, 0);
  plan.gate.restore();
  ::execvpe(plan.command[0], plan.command, plan.environment);
  plan.why_not = errno;
  ::_exit(127);
}

// A copy of us would cost more than the command: it has our memory until it becomes the command. Its descriptor comes
// with it, so that none begins of which we could not see the end. -1: errno says why.
::pid_t begin(Prepared& plan, std::size_t words, int& descriptor) {
  // execvpe builds the path there, and the arguments of a script that names no interpreter.
  const std::size_t size = kChildStack + words * sizeof(char*);
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(size);
  std::byte* top = stack.get() + size;
  top -= reinterpret_cast<std::uintptr_t>(top) % 16;
  return ::clone(become, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &descriptor);
}

void wait_for(::pid_t pid, ::siginfo_t& info) {
  while (::waitid(P_PID, static_cast<::id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

Child::NotStarted not_started(int number, const std::string& program) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  return {missing ? 127 : 126, "cannot run " + escape_controls(program) + ": " + std::strerror(number)};
}

}  // namespace

std::expected<Child, Child::NotStarted> Child::start(const ChildPlan& plan, const SignalGate& gate) {
  std::vector<std::string> words = plan.command;
  std::vector<std::string> environment = environment_with(plan.variables);
  std::vector<char*> word_pointers = pointers_to(words);
  std::vector<char*> environment_pointers = pointers_to(environment);
  Prepared prepared{word_pointers.data(), environment_pointers.data(), plan.life_descriptor, ::getpid(), gate};
  int end = -1;
  const ::pid_t pid = begin(prepared, word_pointers.size(), end);
  if (pid < 0) return std::unexpected(not_started(errno, words[0]));
  // Not reaped before its end is seen, so the id cannot have become another's.
  Descriptor descriptor(end);
  if (prepared.why_not == 0) return Child(pid, std::move(descriptor));
  ::siginfo_t info{};
  wait_for(pid, info);
  return std::unexpected(not_started(prepared.why_not, words[0]));
}

bool Child::in_our_group() const {
  return ::getpgid(pid_) == ::getpgrp();
}

void Child::send(int signal) const {
  ::kill(pid_, signal);
}

ChildEnd Child::reap() const {
  ::siginfo_t info{};
  wait_for(pid_, info);
  if (info.si_code == CLD_EXITED) return {info.si_status, 0};
  return {128 + info.si_status, info.si_status};
}

}  // namespace tenure::cli
