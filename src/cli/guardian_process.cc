#include "cli/guardian_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "cli/guardian_note.h"
#include "cli/output.h"
#include "cli/run_messages.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

// A runner that runs sees to the end of the lease itself; past this it is thought not to.
constexpr Duration kRunnerIsLate = std::chrono::seconds{1};
constexpr Duration kSoon = std::chrono::milliseconds{50};
// poll(2) does not count the sleep of a machine, the end of a lease does.
constexpr Duration kLongestLook = std::chrono::seconds{5};

// As exec would: what the runner's threads have open at this moment, with locks on it, is not ours.
void close_what_exec_would(const std::vector<int>& but) {
  std::vector<int> open;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) {
      const std::string_view name = entry->d_name;
      int number = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{}) open.push_back(number);
    }
    ::closedir(folder);
  } else {
    for (int number = 3; number < 1024; ++number) open.push_back(number);
  }
  for (const int each : open) {
    if (std::ranges::find(but, each) != but.end()) continue;
    const int flags = ::fcntl(each, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) != 0) ::close(each);
  }
}

class Watch {
 public:
  Watch(const GuardianPlan& plan, int runner, Descriptor socket)
      : plan_(plan),
        runner_(runner),
        runner_descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, runner, 0))),
        socket_(std::move(socket)),
        clock_(compose::real_clock()) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    children_ = Descriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    std::vector<int> kept = plan_.child.life_descriptors;
    kept.insert(kept.end(), {runner_descriptor_.get(), socket_.get(), children_.get(), plan_.child.group});
    close_what_exec_would(kept);
    adopt_orphans();
    // Whoever stopped us: we go on when the runner dies. (If it is dead already, the socket is closed.)
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  }

  [[noreturn]] void run() {
    auto child = Child::start(plan_.child, plan_.gate, [this](int pid) { return may_begin(pid); }, socket_.get());
    if (!child) {
      GuardianNote note{.what = GuardianNote::failed, .first = child.error().exit_code};
      note.set_text(child.error().message);
      send_note(socket_.get(), note);
      ::_exit(0);
    }
    tree_.emplace(child->pid(), plan_.child.group);
    tell(GuardianNote::executed);
    look();  // at what happened before there was anybody to look
    while (true) {
      std::array<::pollfd, 2> polled = {{{runner_gone_ ? -1 : socket_.get(), POLLIN, 0}, {children_.get(), POLLIN, 0}}};
      ::poll(polled.data(), polled.size(), patience());
      if (polled[0].revents != 0) listen();
      if (polled[1].revents != 0) look();
      mind_the_deadline();
    }
  }

 private:
  void tell(int what, int first = 0, int second = 0) {
    const std::int64_t now = clock_->boottime().since_origin.count();
    send_note(socket_.get(), {.what = what, .first = first, .second = second, .at = now});
  }

  bool may_begin(int pid) {
    tell(GuardianNote::made, pid);
    GuardianNote note;
    while (receive_note(socket_.get(), note, false) == Received::note) {
      if (note.what == GuardianNote::begin) return true;
      if (note.what == GuardianNote::call_off) return false;
      obey(note);
    }
    return false;
  }

  void listen() {
    GuardianNote note;
    while (true) {
      const Received received = receive_note(socket_.get(), note, true);
      if (received == Received::nothing) return;
      if (received == Received::closed) return lose_runner();
      obey(note);
    }
  }

  void obey(const GuardianNote& note) {
    switch (note.what) {
      case GuardianNote::hear:
        return tell(GuardianNote::heard, take_pending(note.first) ? 1 : 0);
      case GuardianNote::forget:
        take_pending(note.first);
        return;
      case GuardianNote::signal_all:
        if (tree_) tree_->signal_all(note.first);
        return;
      case GuardianNote::end_tree:
        if (tree_) tree_->end(note.first, std::chrono::milliseconds{note.second});
        return;
      default:
        return;
    }
  }

  static bool take_pending(int number) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, number);
    const ::timespec no_time{0, 0};
    return ::sigtimedwait(&wanted, nullptr, &no_time) == number;
  }

  void lose_runner() {
    runner_gone_ = true;
    if (empty_ || (main_ended_ && !plan_.whole_tree && !tree_->ending())) go();
    if (!tree_->ending()) {
      complain(notice("runner_killed",
                      "the process that held " + plan_.what_is_held + " (pid " + std::to_string(runner_) +
                          ") was killed: ending what it ran",
                      plan_.json));
    }
    tree_->end(SIGTERM, plan_.grace);
  }

  void look() {
    ::signalfd_siginfo info{};
    while (::read(children_.get(), &info, sizeof info) > 0) {
    }
    const ProcessTree::Changes changes = tree_->reap();
    if (changes.main_stopped) to_runner(SIGSTOP);
    // One that ends while it is stopped does not go on before.
    if (changes.main_continued || (changes.main_ended && runner_stopped_)) to_runner(SIGCONT);
    if (changes.main_ended) {
      main_ended_ = true;
      tell(GuardianNote::main_ended, changes.main_ended->exit_code, changes.main_ended->signal);
    }
    if (changes.empty && !empty_) {
      empty_ = true;
      tell(GuardianNote::tree_empty);
    }
    if (runner_gone_ && (empty_ || (main_ended_ && !plan_.whole_tree && !tree_->ending()))) go();
  }

  // The runner would remove the group, but is gone.
  [[noreturn]] void go() {
    plan_.group.remove();
    ::_exit(0);
  }

  // A job is stopped, for a shell, when its first process is: we stop and go on as the command does.
  void to_runner(int number) {
    if (runner_gone_ || ::getppid() != runner_) return;
    runner_stopped_ = number == SIGSTOP;
    ::syscall(SYS_pidfd_send_signal, runner_descriptor_.get(), number, nullptr, 0);
  }

  std::optional<Duration> past_deadline() const {
    const auto end = plan_.deadline.get();
    if (!end || !plan_.ends_at_deadline || empty_ || tree_->ending()) return std::nullopt;
    return clock_->boottime() - *end;
  }

  void mind_the_deadline() {
    const auto past = past_deadline();
    if (!past || *past < Duration{0}) return;
    const bool stopped = is_stopped(runner_);
    if (!stopped && *past < kRunnerIsLate) return;
    complain(notice("ran_out",
                    plan_.what_ends + " has run out while the process that holds it (pid " + std::to_string(runner_) +
                        ") " + (stopped ? "is stopped" : "does not react") + ": ending what it runs",
                    plan_.json));
    tree_->end(SIGTERM, plan_.grace);
  }

  int patience() {
    const int tree = tree_->tend();
    const auto past = past_deadline();
    if (!past) return tree;
    const Duration look = *past >= Duration{0} ? kSoon : std::min(-*past, kLongestLook);
    const auto deadline = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(look).count()) + 1;
    return tree < 0 ? deadline : std::min(tree, deadline);
  }

  const GuardianPlan& plan_;
  const int runner_;
  const Descriptor runner_descriptor_;
  const Descriptor socket_;
  const std::shared_ptr<const env::Clock> clock_;
  Descriptor children_;
  std::optional<ProcessTree> tree_;
  bool runner_gone_ = false;
  bool runner_stopped_ = false;  // by us
  bool main_ended_ = false;
  bool empty_ = false;
};

}  // namespace

void be_guardian(const GuardianPlan& plan, int runner, Descriptor socket) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  Watch(plan, runner, std::move(socket)).run();
}

}  // namespace tenure::cli
