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
  terms_ = options.terms;
  nested_.reset();
  refusal_.reset();
  if (auto looked = look_around(key); !looked) return fail(looked.error());
  if (nested_) return std::move(*nested_);
  options.stop = &*stop_;
  options.on_wait = [this, wait = options.wait](const Observation& seen) { tell(seen, wait); };
  // Over a local space a claim that nobody stands in the way of has no time to be interrupted.
  if (!space_.traits().pushes_loss) watch();
  auto lease = arguments_.adopt ? space_.adopt(key, options) : space_.claim(key, options);
  sentinel_.reset();
  if (lease) {
    const Epoch epoch = lease->epoch();
    const auto slot = lease->slot();
    return Got{std::move(*lease), epoch, slot};
  }
  if (blind_) return fail(*blind_);
  const auto& holder = lease.error().holder;
  const bool busy = lease.error().code == Code::held || lease.error().code == Code::timed_out;
  if (!nested_ && !refusal_ && holder && busy) decide(*holder);
  if (nested_ && signal_ == 0) return std::move(*nested_);
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

void RunWait::refuse(const Observation& seen, const std::string& text, Code code) {
  refusal_ = Error{code, text, {}, std::make_shared<Observation>(seen)};
}

// A lease together with others is granted beside the one around us, where that leaves room.
Result<void> RunWait::look_around(const Key& key) {
  const bool alone = terms_.mode == Mode::exclusive && terms_.slots == 1;
  if (alone || holds_before().empty()) return {};
  auto seen = space_.holder(key);
  if (!seen) return fail(seen.error());
  if (nesting_in(*seen, space_.url()).nesting == Nesting::within) decide(*seen);
  if (refusal_) return fail(*refusal_);
  return {};
}

void RunWait::decide(const Observation& seen) {
  const std::string key = escape_controls(seen.key.text());
  const auto [nesting, around] = nesting_in(seen, space_.url());
  if (nesting == Nesting::within && !arguments_.no_reentrant) {
    if (covers(*around.holder, terms_)) {
      nested_ = Got{std::nullopt, around.epoch, around.holder->slot.value_or(0)};
      return;
    }
    const Holder& holder = *around.holder;
    const bool other_number = holder.slots > 1 && terms_.slots > 1;
    const std::string how = holder.mode == Mode::shared ? "as a reader"
                            : holder.slots > 1          ? "as one of " + std::to_string(holder.slots) + " slots"
                                                        : "alone";
    return refuse(seen,
                  "this command runs inside the `tenure run` that holds " + key + " " + how +
                      (other_number ? "; it asks for " + std::to_string(terms_.slots)
                                    : ", so to wait for its end would never end"),
                  other_number ? Code::slots_differ : Code::held);
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
