#include "cli/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "cli/output.h"
#include "cli/run_messages.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kOthers = 5;  // descriptors before those of leases

class Supervisor {
 public:
  Supervisor(Guardian& guardian, const AllHeld& held, SignalGate& gate, AskDesk& desk, const Watchwords& words)
      : guardian_(guardian), held_(held), gate_(gate), desk_(desk), words_(words), clock_(compose::real_clock()) {}

  Supervised run() {
    pass_on();  // what came while it began
    while (true) {
      // Before each sleep: news may have come in beside an answer.
      listen();
      if (over()) return {end_.value_or(ChildEnd{}), at_bound_, yielded_, loss_, at_};
      const bool asked = !loss_ && !ending_;
      std::vector<::pollfd> polled = {{guardian_.descriptor(), POLLIN, 0},
                                      {gate_.descriptor(), POLLIN, 0},
                                      {hook_.descriptor(), POLLIN, 0},
                                      {asked ? desk_.descriptor() : -1, POLLIN, 0},
                                      {asked ? desk_.decision() : -1, POLLIN, 0}};
      if (!loss_) {
        for (const auto& each : held_) {
          polled.push_back({each->lease.lost_fd(), POLLIN, 0});
          polled.push_back({each->renewer->descriptor(), POLLIN, 0});
        }
      }
      const int ready = ::poll(polled.data(), polled.size(), patience());
      if (ready < 0 && errno != EINTR) guardian_.end_tree(SIGKILL, Duration{0});  // blind, we must not let it go on
      if (ready <= 0) std::ranges::for_each(polled, [](::pollfd& each) { each.revents = 0; });
      // The loss first: a command that ended together with it has ended without the lease.
      for (std::size_t i = kOthers; i < polled.size() && !loss_; ++i) {
        if (polled[i].revents != 0) lose(*held_[(i - kOthers) / 2]);
      }
      if (polled[1].revents != 0) pass_on();
      if (polled[2].revents != 0) (void)hook_.reap();
      // After the loss and the end, which it may not be mistaken for.
      if (asked && !loss_) attend_to_askers();
      if (words_.bound && !ending_ && clock_->monotonic() >= *words_.bound) end_at_bound();
      if (hook_until_ && clock_->monotonic() >= *hook_until_) {
        hook_.kill();
        hook_until_.reset();
      }
    }
  }

 private:
  int patience() {
    int least = guardian_.patience();
    const auto until = [&least](Duration left) {
      const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
      const auto bounded = static_cast<int>(std::clamp<std::int64_t>(whole, 0, std::numeric_limits<int>::max()));
      least = least < 0 ? bounded : std::min(least, bounded);
    };
    if (hook_until_) until(*hook_until_ - clock_->monotonic());
    if (words_.bound && !ending_) until(*words_.bound - clock_->monotonic());
    if (const auto desk = desk_.patience(); desk && !loss_ && !ending_) until(*desk);
    return least;
  }

  // The key is promised: the command ends as it would at a loss, and the lease is given back after it.
  void attend_to_askers() {
    if (!desk_.attend()) return;
    yielded_ = true;
    desk_.close();
    end_tree(SIGTERM);
  }

  void listen() {
    const Guardian::News news = guardian_.hear();
    if (news.main_ended) end_ = news.main_ended;
    empty_ |= news.tree_empty;
    if (news.main_ended || news.tree_empty) at_ = news.at;
    if (!news.was_killed) return;
    complain(notice("guardian_killed", "its guardian process was killed: ending the command", words_.json));
    end_tree(SIGTERM);
  }

  bool over() const {
    if (hook_.descriptor() >= 0) return false;
    return empty_ || (end_ && !words_.whole_tree && !ending_);
  }

  void pass_on() {
    while (const auto signal = gate_.take()) {
      // The guardian was stopped, perhaps.
      if (signal->number == SIGCHLD) {
        guardian_.wake();
        continue;
      }
      // So that we go on together with the command.
      if (signal->number == SIGCONT && signal->sender == guardian_.pid()) continue;
      // What the terminal sends goes to its whole foreground group, and so does what was sent to the group by name: the
      // command has it already, unless it has left the group.
      // Asked for the terminal's too: the guardian would have them still when the next comes to us alone.
      const bool in_group = guardian_.heard(signal->number);
      const bool to_group = in_group || !signal->by_process;
      // To one who has just ended it would be lost for those who are left.
      if (end_ || (words_.whole_tree && guardian_.main_is_over())) {
        guardian_.send_to_all(signal->number);
      } else if (!to_group || !guardian_.main_in_our_group()) {
        guardian_.send_to_main(signal->number);
      }
    }
  }

  void end_tree(int signal) {
    ending_ = true;
    guardian_.end_tree(signal, words_.grace);
  }

  void end_at_bound() {
    at_bound_ = true;
    if (words_.on_bound) words_.on_bound();
    end_tree(SIGTERM);
  }

  void lose(const Held& held) {
    desk_.close();
    loss_ = held.lease.loss().value_or(Loss{held.renewer->why(), nullptr});
    if (words_.on_loss) words_.on_loss(held.lease, *loss_);
    if (words_.hook) {
      hook_ = words_.hook(held.lease, *loss_);
      hook_until_ = clock_->monotonic() + words_.grace;
      return;
    }
    if (words_.at_loss != AtLoss::warn) end_tree(words_.at_loss == AtLoss::kill ? SIGKILL : SIGTERM);
  }

  Guardian& guardian_;
  const AllHeld& held_;
  SignalGate& gate_;
  AskDesk& desk_;
  const Watchwords& words_;
  std::shared_ptr<const env::Clock> clock_;
  std::optional<ChildEnd> end_;
  BootTime at_;
  bool empty_ = false;
  bool ending_ = false;
  bool at_bound_ = false;
  bool yielded_ = false;
  std::optional<Loss> loss_;
  Hook hook_;
  std::optional<MonotonicTime> hook_until_;
};

}  // namespace

Supervised supervise(Guardian& guardian, const AllHeld& held, SignalGate& gate, AskDesk& desk,
                     const Watchwords& words) {
  return Supervisor(guardian, held, gate, desk, words).run();
}

}  // namespace tenure::cli
