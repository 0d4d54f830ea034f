#include "cli/keeper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "cli/claiming.h"
#include "cli/error_view.h"
#include "cli/lingering.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/sentinel.h"
#include "cli/signals.h"

namespace tenure::cli {
namespace {

// Where the owner's end is not told.
constexpr Duration kLookAgain = std::chrono::seconds(1);
// The last descriptors that survive: three streams, the line, the owner's pidfd.
constexpr int kLine = 3;
constexpr int kOwner = 4;

// A copy out of the way of the fixed places.
Result<Descriptor> aside(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kOwner + 1);
  if (copy >= 0) return Descriptor(copy);
  // A limit below the place that was asked for has an error of its own.
  return fail(system_error(errno == EINVAL ? EMFILE : errno, "cannot make room among the keeper's descriptors"));
}

Result<Descriptor> moved_to(int place, int from) {
  if (::dup3(from, place, O_CLOEXEC) >= 0) return Descriptor(place);
  return fail(system_error(errno == EBADF ? EMFILE : errno, "cannot put a descriptor of the keeper in its place"));
}

// Leaves the world of whoever started us; the two descriptors move to fixed places and all others are closed. The line
// is usable at every step, so that a failure can be told.
Result<void> withdraw(KeeperPlan& plan, KeeperLine& line) {
  ::setsid();
  const bool has_owner = plan.owner && plan.owner->death.open();
  auto line_copy = aside(line.descriptor());
  if (!line_copy) return fail(line_copy.error());
  line = KeeperLine(std::move(*line_copy));
  if (has_owner) {
    auto owner_copy = aside(plan.owner->death.get());
    if (!owner_copy) return fail(owner_copy.error());
    plan.owner->death = std::move(*owner_copy);
    auto owner = moved_to(kOwner, plan.owner->death.get());
    if (!owner) return fail(owner.error());
    plan.owner->death = std::move(*owner);
  }
  auto fixed = moved_to(kLine, line.descriptor());
  if (!fixed) return fail(fixed.error());
  line = KeeperLine(std::move(*fixed));
  Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.open()) return fail(system_error(errno, "cannot open /dev/null"));
  for (int stream = 0; stream < 3; ++stream) ::dup2(null.get(), stream);
  null.reset();
  ::close_range(has_owner ? kOwner + 1 : kOwner, ~0U, 0);
  return {};
}

class Keeping {
 public:
  Keeping(KeeperPlan plan, KeeperLine line) : plan_(std::move(plan)), line_(std::move(line)) {}

  int run() {
    if (auto withdrawn = withdraw(plan_, line_); !withdrawn) return refuse(withdrawn.error());
    auto gate = SignalGate::close_gate();
    if (!gate) return refuse(gate.error());
    // Opened before the folder is left: the URL may be relative to it.
    auto space = open_chosen(plan_.arguments);
    if (!space) return refuse(space.error());
    (void)!::chdir("/");
    auto lease = claim(*space, *gate);
    if (!lease) return refuse(lease.error(), space->url());
    if (!hand_over(*lease, *space)) return give_back(*lease);
    hold(*lease, *space, *gate);
    return give_back(*lease);
  }

 private:
  int refuse(const Error& error, const std::string& url = {}) {
    line_.say({Word::Kind::refused, facts(error.code).exit_code, render(error, plan_.arguments.json, url, &plan_.key)});
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
    return plan_.arguments.adopt ? space.adopt(plan_.key, options) : space.claim(plan_.key, options);
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
    if (plan_.arguments.slots) out["slot"] = lease.slot().value_or(0);
    if (plan_.owner) out["owner_pid"] = plan_.owner->identity.pid;
    if (plan_.options.terms.ttl) {
      out["ttl_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*plan_.options.terms.ttl).count();
    }
    return boost::json::serialize(out);
  }

  // Until it is over: the owner ended, the lease was lost or given back, a signal came, or the TTL ran out and nobody
  // renewed or took it while we lingered.
  void hold(Lease& lease, const Space& space, const SignalGate& gate) {
    Lingering lingering(lease, space, plan_.options.terms.ttl);
    while (true) {
      std::array<::pollfd, 3> polled = {
          {{death(), POLLIN, 0}, {lease.lost_fd(), POLLIN, 0}, {gate.descriptor(), POLLIN, 0}}};
      const int ready = ::poll(polled.data(), polled.size(), timeout(lingering));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) return;
      if (plan_.owner && death() < 0 && !still_there(plan_.owner->identity)) return;
      if (lingering.over()) return;
    }
  }

  int timeout(const Lingering& lingering) const {
    std::optional<Duration> span = lingering.until_next_look();
    if (plan_.owner && death() < 0) span = std::min(span.value_or(kLookAgain), kLookAgain);
    // In steps of a day at most, so that it fits the type.
    const Duration day = std::chrono::hours(24);
    if (!span) return -1;
    // Rounded up: a look too early would only be followed by another.
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(std::min(*span, day)).count());
  }

  static int give_back(Lease& lease) { return lease.release() ? 0 : 1; }

  KeeperPlan plan_;
  KeeperLine line_;
};

}  // namespace

int keep(KeeperPlan plan, KeeperLine line) {
  return Keeping(std::move(plan), std::move(line)).run();
}

}  // namespace tenure::cli
