#include "cli/run_wait.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/claiming.h"
#include "cli/nesting.h"
#include "cli/output.h"

namespace tenure::cli {

Result<Got> RunWait::claim(const Key& key, ClaimOptions options, bool holding) {
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  stop_ = std::move(*stop);
  holding_ = holding;
  nested_.reset();
  refusal_.reset();
  options.stop = &*stop_;
  options.on_wait = [this, wait = options.wait](const Observation& seen) { tell(seen, wait); };
  // Over a local space a claim that nobody stands in the way of has no time to be interrupted.
  if (!space_.traits().pushes_loss) watch();
  auto lease = space_.claim(key, options);
  sentinel_.reset();
  if (lease) {
    const Epoch epoch = lease->epoch();
    return Got{std::move(*lease), epoch};
  }
  if (blind_) return fail(*blind_);
  const auto& holder = lease.error().holder;
  const bool busy = lease.error().code == Code::held || lease.error().code == Code::timed_out;
  if (!nested_ && !refusal_ && holder && busy) decide(*holder);
  if (nested_ && signal_ == 0) return Got{std::nullopt, *nested_};
  return fail(refusal_ ? *refusal_ : lease.error());
}

bool RunWait::interrupted() {
  std::vector<Signal> others;
  while (const auto taken = gate_.take()) {
    if (gate_.ends_a_wait(*taken)) {
      signal_ = taken->number;
      break;
    }
    if (!gate_.inert(taken->number)) others.push_back(*taken);
  }
  // Those of the job are for the command.
  for (const Signal& each : others) gate_.put_back(each);
  return signal_ != 0;
}

// For signals, from here on.
void RunWait::watch() {
  if (sentinel_ || blind_) return;
  auto sentinel = Sentinel::post(*stop_, {gate_.descriptor()}, [this](std::size_t) { return interrupted(); });
  if (sentinel) {
    sentinel_.emplace(std::move(*sentinel));
  } else {
    blind_ = sentinel.error();
    stop_->request();
  }
}

void RunWait::tell(const Observation& seen, std::optional<Duration> wait) {
  watch();
  decide(seen);
  if (nested_ || refusal_) return stop_->request();
  complain(waiting_message(seen, space_, wait, arguments_.json));
}

void RunWait::refuse(const Observation& seen, const std::string& text) {
  refusal_ = Error{Code::held, text, {}, std::make_shared<Observation>(seen)};
}

void RunWait::decide(const Observation& seen) {
  const std::string key = escape_controls(seen.key.text());
  const Nesting nesting = nesting_in(seen, space_.url());
  if (nesting == Nesting::within && !arguments_.no_reentrant) {
    nested_ = seen.epoch;
    return;
  }
  if (nesting == Nesting::within || nesting == Nesting::unasked) {
    return refuse(seen,
                  "you hold " + key + " already: this command runs inside " +
                      (nesting == Nesting::within ? "the `tenure run` that holds it" : "the process that holds it") +
                      ", so to wait for its end would never end");
  }
  if (nesting == Nesting::unseen) {
    return refuse(seen, "TENURE_HOLDS says that this command runs inside the `tenure run` that holds " + key +
                            ", and whether it does cannot be seen here, without /proc");
  }
  if (nesting == Nesting::elsewhere && !std::exchange(told_of_elsewhere_, true)) {
    complain("tenure: note: TENURE_HOLDS names " + key +
             ", but this does not run inside the\n"
             "`tenure run` that holds it: ignored\n");
  }
  if (const auto circle = circle_of(space_, seen, holding_)) {
    refuse(seen, "to wait for " + key + " would never end: " + *circle);
  }
}

}  // namespace tenure::cli
