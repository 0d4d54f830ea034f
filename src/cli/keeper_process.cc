#include "cli/keeper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "cli/claiming.h"
#include "cli/error_view.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/sentinel.h"
#include "cli/signals.h"

namespace tenure::cli {
namespace {

// Where the owner's end is not told, and after a verification whose answer was "cannot say".
constexpr Duration kLookAgain = std::chrono::seconds(1);
// The last descriptors that survive: three streams, the line, the owner's pidfd.
constexpr int kLine = 3;
constexpr int kOwner = 4;

// Leaves the world of whoever started us; the two descriptors move to fixed places and all others are closed.
void withdraw(KeeperPlan& plan, KeeperLine& line) {
  ::setsid();
  // Out of the way of the fixed places first.
  Descriptor line_copy(::fcntl(line.descriptor(), F_DUPFD_CLOEXEC, 16));
  const bool has_owner = plan.owner && plan.owner->death.open();
  Descriptor owner_copy(has_owner ? ::fcntl(plan.owner->death.get(), F_DUPFD_CLOEXEC, 16) : -1);
  if (plan.owner) plan.owner->death.reset();
  ::dup3(line_copy.get(), kLine, O_CLOEXEC);
  if (has_owner) ::dup3(owner_copy.get(), kOwner, O_CLOEXEC);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream < 3; ++stream) ::dup2(null, stream);
  line_copy.release();
  owner_copy.release();
  ::close_range(has_owner ? kOwner + 1 : kOwner, ~0U, 0);
  line = KeeperLine(Descriptor(kLine));
  if (has_owner) plan.owner->death = Descriptor(kOwner);
}

class Keeping {
 public:
  Keeping(KeeperPlan plan, KeeperLine line) : plan_(std::move(plan)), line_(std::move(line)) {}

  int run() {
    auto gate = SignalGate::close_gate();
    if (!gate) return refuse(gate.error());
    // Opened before the folder is left: the URL may be relative to it.
    auto space = open_chosen(plan_.arguments);
    if (!space) return refuse(space.error());
    (void)!::chdir("/");
    auto lease = claim(*space, *gate);
    if (!lease) return refuse(lease.error(), space->url());
    if (!hand_over(*lease, *space)) return give_back(*lease);
    hold(*lease, *gate);
    return give_back(*lease);
  }

 private:
  int refuse(const Error& error, const std::string& url = {}) {
    line_.say({Word::Kind::refused, facts(error.code).exit_code, render(error, plan_.arguments.json, url)});
    return 1;
  }

  int death() const { return plan_.owner ? plan_.owner->death.get() : -1; }

  Result<Lease> claim(const Space& space, const SignalGate& gate) {
    auto stop = Stop::create();
    if (!stop) return fail(stop.error());
    ClaimOptions options = plan_.options;
    options.stop = &*stop;
    options.on_wait = [&](const Observation& seen) {
      line_.say({Word::Kind::wait, 0, waiting_message(seen, space, options.wait, plan_.arguments.json)});
    };
    // The one who asked is gone, the one it is for is gone, or a signal came: nobody wants it any more.
    auto sentinel =
        Sentinel::post(*stop, {line_.descriptor(), death(), gate.descriptor()}, [](std::size_t) { return true; });
    if (!sentinel) return fail(sentinel.error());
    return space.claim(plan_.key, options);
  }

  // The handle, and whatever is to be said of the grant. False: nobody took it.
  bool hand_over(const Lease& lease, const Space& space) {
    const std::string remarks = grant_message(lease, space, plan_.arguments.json);
    if (!remarks.empty()) line_.say({Word::Kind::wait, 0, remarks});
    const std::string handle = lease.handle().text();
    if (!line_.say({Word::Kind::granted, 0, plan_.arguments.json ? as_json(lease, space, handle) : handle})) {
      return false;
    }
    const auto answer = line_.hear();
    line_ = KeeperLine(Descriptor());
    return answer && answer->kind == Word::Kind::kept;
  }

  // With --handle-file the secret goes to the file alone; the caller takes it out again.
  std::string as_json(const Lease& lease, const Space& space, const std::string& handle) const {
    boost::json::object out{{"handle", handle},
                            {"key", lease.key().text()},
                            {"epoch", lease.epoch().value()},
                            {"space", space.url()},
                            {"keeper_pid", static_cast<std::int64_t>(::getpid())}};
    if (plan_.owner) out["owner_pid"] = plan_.owner->identity.pid;
    if (plan_.options.terms.ttl) {
      out["ttl_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*plan_.options.terms.ttl).count();
    }
    return boost::json::serialize(out);
  }

  // Until it is over: the owner ended, the lease was lost or given back, the TTL ran out, a signal came.
  void hold(Lease& lease, const SignalGate& gate) {
    while (true) {
      std::array<::pollfd, 3> polled = {
          {{death(), POLLIN, 0}, {lease.lost_fd(), POLLIN, 0}, {gate.descriptor(), POLLIN, 0}}};
      const int ready = ::poll(polled.data(), polled.size(), timeout(lease));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) return;
      if (plan_.owner && death() < 0 && !still_there(*plan_.owner)) return;
      if (past_ttl(lease)) return;
    }
  }

  int timeout(const Lease& lease) {
    std::optional<Duration> span;
    if (plan_.owner && death() < 0) span = kLookAgain;
    if (const auto left = lease.remaining()) {
      const Duration until = *left > Duration{0} ? *left + std::chrono::milliseconds(1) : kLookAgain;
      span = std::min(span.value_or(until), until);
    }
    // In steps of a day at most, so that it fits the type.
    const Duration day = std::chrono::hours(24);
    if (!span) return -1;
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(std::min(*span, day)).count());
  }

  // Asks the store before it gives up: another process may have renewed with the handle.
  static bool past_ttl(Lease& lease) {
    const auto left = lease.remaining();
    if (!left || *left > Duration{0}) return false;
    auto standing = lease.verify();
    return !standing && facts(standing.error().code).outcome == Outcome::lost;
  }

  static int give_back(Lease& lease) { return lease.release() ? 0 : 1; }

  KeeperPlan plan_;
  KeeperLine line_;
};

}  // namespace

int keep(KeeperPlan plan, KeeperLine line) {
  withdraw(plan, line);
  return Keeping(std::move(plan), std::move(line)).run();
}

}  // namespace tenure::cli
