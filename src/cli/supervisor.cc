#include "cli/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

class Supervisor {
 public:
  Supervisor(const Child& child, Lease& lease, const Renewer& renewer, const SignalGate& gate, GroupEar& ear,
             const Watchwords& words)
      : child_(child),
        lease_(lease),
        renewer_(renewer),
        gate_(gate),
        ear_(ear),
        words_(words),
        clock_(compose::real_clock()) {}

  Supervised run() {
    while (true) {
      std::array<::pollfd, 4> polled = {{{child_.descriptor(), POLLIN, 0},
                                         {gate_.descriptor(), POLLIN, 0},
                                         {loss_ ? -1 : lease_.lost_fd(), POLLIN, 0},
                                         {loss_ ? -1 : renewer_.descriptor(), POLLIN, 0}}};
      const int ready = ::poll(polled.data(), polled.size(), timeout());
      if (ready < 0 && errno != EINTR) {
        // Blind to signals and to losses, we must not let it go on.
        child_.send(SIGKILL);
        return {child_.reap(), loss_};
      }
      if (ready <= 0) polled = {};
      // The loss first: a command that ended together with it has ended without the lease.
      if ((polled[2].revents | polled[3].revents) != 0) lose();
      if (polled[0].revents != 0) return {child_.reap(), loss_};
      if (polled[1].revents != 0) pass_on();
      if (kill_at_ && clock_->monotonic() >= *kill_at_) kill();
    }
  }

 private:
  int timeout() const {
    if (!kill_at_) return -1;
    const auto left = *kill_at_ - clock_->monotonic() + std::chrono::milliseconds{1};
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(std::max(left, Duration{0}));
    return static_cast<int>(std::min<std::int64_t>(milliseconds.count(), std::numeric_limits<int>::max()));
  }

  void pass_on() {
    while (const auto signal = gate_.take()) {
      // What the terminal sends goes to its whole foreground group, and so does what was sent to the group by name: the
      // child has it already, unless it has left the group.
      const bool to_group = !signal->by_process || ear_.heard(signal->number);
      if (!to_group || !child_.in_our_group()) child_.send(signal->number);
    }
  }

  void lose() {
    loss_ = lease_.loss().value_or(Loss{renewer_.why(), nullptr});
    if (words_.on_loss) words_.on_loss(*loss_);
    switch (words_.at_loss) {
      case AtLoss::warn:
        return;
      case AtLoss::kill:
        return child_.send(SIGKILL);
      case AtLoss::terminate:
        child_.send(SIGTERM);
        // A stopped one could not act on it.
        child_.send(SIGCONT);
        kill_at_ = clock_->monotonic() + words_.grace;
    }
  }

  void kill() {
    child_.send(SIGKILL);
    kill_at_.reset();
  }

  const Child& child_;
  Lease& lease_;
  const Renewer& renewer_;
  const SignalGate& gate_;
  GroupEar& ear_;
  const Watchwords& words_;
  std::shared_ptr<const env::Clock> clock_;
  std::optional<Loss> loss_;
  std::optional<MonotonicTime> kill_at_;
};

}  // namespace

Supervised supervise(const Child& child, Lease& lease, const Renewer& renewer, const SignalGate& gate, GroupEar& ear,
                     const Watchwords& words) {
  return Supervisor(child, lease, renewer, gate, ear, words).run();
}

}  // namespace tenure::cli
