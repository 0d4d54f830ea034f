#include "cli/guardian.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "cli/guardian_note.h"
#include "cli/guardian_process.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

using Note = GuardianNote;

// For an answer that takes microseconds.
constexpr ::timeval kPatience{2, 0};
constexpr int kLookMs = 1'000;  // after a guardian that was told to end the tree
constexpr int kOrphansMs = 20;  // after children of whom no descriptor tells

Child::NotStarted no_guardian(int number) {
  return {126, std::string("cannot make a process to watch over the command: ") + std::strerror(number)};
}

}  // namespace

Result<SharedDeadline> SharedDeadline::make() {
  void* page =
      ::mmap(nullptr, sizeof(std::atomic<Duration::rep>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return fail(system_error(errno, "cannot get a page of memory"));
  return SharedDeadline(new (page) std::atomic<Duration::rep>(0));
}

SharedDeadline::~SharedDeadline() {
  if (end_ != nullptr) ::munmap(end_, sizeof *end_);
}

void SharedDeadline::set(std::optional<BootTime> end) noexcept {
  end_->store(end ? end->since_origin.count() : 0, std::memory_order_release);
}

std::optional<BootTime> SharedDeadline::get() const noexcept {
  const Duration::rep end = end_->load(std::memory_order_acquire);
  return end == 0 ? std::nullopt : std::optional(BootTime{Duration{end}});
}

std::expected<Guardian, Child::NotStarted> Guardian::start(const GuardianPlan& plan,
                                                           const std::function<bool()>& ready) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::unexpected(no_guardian(errno));
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  adopt_orphans();
  const ::pid_t runner = ::getpid();
  // The mask is inherited: all that `run` cares about is blocked there from the first moment.
  const ::pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(no_guardian(errno));
  if (pid == 0) {
    ours.reset();
    be_guardian(plan, runner, std::move(theirs));
  }
  theirs.reset();  // or its end would not be seen
  ::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  Guardian guardian(pid, std::move(ours), plan.child.group);
  auto begun = guardian.begin(ready);
  if (!begun) return std::unexpected(begun.error());
  return guardian;
}

std::expected<void, Child::NotStarted> Guardian::begin(const std::function<bool()>& ready) {
  const auto gone = std::unexpected(
      Child::NotStarted{126, "the process that was to watch over the command was killed before it began"});
  auto told = await_start(Note::made);
  if (!told) return gone;
  if (told->what == Note::failed) return std::unexpected(Child::NotStarted{told->first, told->text.data()});
  main_ = told->first;
  // Nobody but the guardian reaps it, so the number is still its own; it may have been killed already.
  main_descriptor_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, main_, 0)));
  if (!main_descriptor_.open()) {
    const auto why = std::unexpected(no_guardian(errno));
    tell(Note::call_off);
    return why;
  }
  if (!ready()) {
    tell(Note::call_off);
    return std::unexpected(Child::NotStarted{0, {}});
  }
  if (!tell(Note::begin)) return gone;
  told = await_start(Note::executed);
  if (told && told->what == Note::failed) return std::unexpected(Child::NotStarted{told->first, told->text.data()});
  // Killed just now: the command may run, and is ours.
  if (!told) take_over();
  return {};
}

// As long as the guardian lives: it may be stopped, and the command too.
std::optional<GuardianNote> Guardian::await_start(int what) {
  while (true) {
    GuardianNote note;
    const Received received = receive_note(socket_.get(), note, false);
    if (received == Received::closed) return std::nullopt;
    if (received == Received::nothing) {
      wake();
    } else if (note.what == what || note.what == Note::failed) {
      return note;
    } else {
      keep(note);
    }
  }
}

// It goes when its socket is closed. Whoever adopts what we leave behind might never reap it.
Guardian::~Guardian() {
  if (pid_ <= 0 || tree_) return;
  socket_.reset();
  ::siginfo_t info{};
  while (::waitid(P_PID, static_cast<::id_t>(pid_), &info, WEXITED | WSTOPPED) == 0 || errno == EINTR) {
    if (info.si_pid == pid_ && info.si_code != CLD_STOPPED) return;
    ::kill(pid_, SIGCONT);
  }
}

Guardian::Guardian(Guardian&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      main_(other.main_),
      main_reaped_(other.main_reaped_),
      main_descriptor_(std::move(other.main_descriptor_)),
      unheard_(other.unheard_),
      ending_(other.ending_),
      group_(other.group_),
      tree_(std::move(other.tree_)) {}

bool Guardian::tell(int what, int first, int second) {
  return send_note(socket_.get(), {.what = what, .first = first, .second = second});
}

// A stopped one is woken, and told that this signal was not for the group.
void Guardian::wake() {
  if (tree_) return;
  ::siginfo_t info{};
  if (::waitid(P_PID, static_cast<::id_t>(pid_), &info, WSTOPPED | WNOHANG) != 0 || info.si_pid != pid_) return;
  ::kill(pid_, SIGCONT);
  tell(Note::forget, SIGCONT);
}

// Waits for an answer; news that comes before it is kept.
std::optional<GuardianNote> Guardian::await(int what) {
  GuardianNote note;
  while (receive_note(socket_.get(), note, false) == Received::note) {
    if (note.what == what) return note;
    keep(note);
  }
  return std::nullopt;
}

void Guardian::keep(const GuardianNote& note) {
  unheard_.at = BootTime{Duration{note.at}};
  if (note.what == Note::main_ended) {
    unheard_.main_ended = ChildEnd{note.first, note.second};
    main_reaped_ = true;
  }
  if (note.what == Note::tree_empty) unheard_.tree_empty = true;
}

Guardian::News Guardian::hear() {
  GuardianNote note;
  Received received = Received::nothing;
  while (!tree_ && (received = receive_note(socket_.get(), note, true)) == Received::note) keep(note);
  // It may have told of the end first, and gone in good order.
  if (received == Received::closed && !unheard_.main_ended) take_over();
  if (tree_) {
    const ProcessTree::Changes changes = tree_->reap();
    unheard_.at = compose::real_clock()->boottime();
    if (changes.main_ended) unheard_.main_ended = changes.main_ended;
    if (changes.empty) unheard_.tree_empty = true;
  } else if (ending_) {
    wake();
  }
  return std::exchange(unheard_, News{});
}

// What was below it is below us now. Its end means what the runner's own would: the command is ended.
void Guardian::take_over() {
  tree_.emplace(main_reaped_ ? -1 : main_, group_);  // its number may be another's by now
  unheard_.was_killed = true;
  socket_.reset();
}

int Guardian::patience() {
  if (tree_) {
    const int due = tree_->tend();
    return due < 0 ? kOrphansMs : std::min(due, kOrphansMs);
  }
  return ending_ ? kLookMs : -1;
}

bool Guardian::heard(int signal) {
  if (tree_) return false;
  wake();
  // The kernel hands a signal to the members of a group one after another, under a lock that setpgid takes as well:
  // when it returns, all of them have it. Nothing is changed by it.
  ::setpgid(pid_, ::getpgrp());
  if (!tell(Note::hear, signal)) return false;
  const auto answer = await(Note::heard);
  return answer && answer->first == 1;
}

bool Guardian::main_is_over() const {
  ::pollfd polled{main_descriptor_.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) == 1;
}

bool Guardian::main_in_our_group() const {
  return ::getpgid(main_) == ::getpgrp();
}

void Guardian::send_to_main(int signal) {
  ::syscall(SYS_pidfd_send_signal, main_descriptor_.get(), signal, nullptr, 0);
}

void Guardian::send_to_all(int signal) {
  if (tree_) return tree_->signal_all(signal);
  wake();
  tell(Note::signal_all, signal);
}

void Guardian::end_tree(int signal, Duration grace) {
  ending_ = true;
  if (tree_) return tree_->end(signal, grace);
  wake();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(grace).count();
  tell(Note::end_tree, signal, static_cast<int>(std::min<std::int64_t>(milliseconds, INT_MAX)));
}

}  // namespace tenure::cli
