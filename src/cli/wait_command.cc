// wait: until nobody holds a key. Takes no lease and no place in line.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/ancestors.h"
#include "cli/claiming.h"
#include "cli/command.h"
#include "cli/deaths.h"
#include "cli/layout.h"
#include "cli/nesting.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "compose/real_environment.h"
#include "engine/engine.h"

namespace tenure::cli {
namespace {

// Where a death cannot be watched for (another pid namespace), and nobody is told of it.
constexpr Duration kLookAnyway = std::chrono::seconds(2);
// From the end of a TTL to the look at it.
constexpr Duration kAfterTtl = std::chrono::milliseconds(1);

class FreeWait {
 public:
  FreeWait(const Arguments& arguments, const Key& key, std::optional<Duration> wait)
      : arguments_(arguments), key_(key), wait_(wait), begun_(clock_->monotonic()) {}

  // How the key stands when nobody holds it.
  Result<Observation> until_free(const Space& space) {
    // Begun before the first look, so that nothing that happens between the two is missed.
    auto changes = space.engine().changes();
    if (!changes) return fail(changes.error());
    for (;;) {
      auto seen = space.holder(key_);
      if (!seen || !is_held(*seen)) return seen;
      if (auto going_on = may_go_on(*seen, space); !going_on) return fail(going_on.error());
      if (auto met = meet(*seen, space); !met) return fail(met.error());
      const auto told = (*changes)->wait(patience(*seen), deaths_ ? &deaths_->stop() : nullptr);
      if (!told) return fail(told.error());
      if (deaths_ && deaths_->stop().requested()) {
        if (auto other = watch_other(seen->holder); !other) return fail(other.error());
      }
    }
  }

  Duration waited() const { return clock_->monotonic() - begun_; }

 private:
  std::shared_ptr<const Observation> shared(const Observation& seen) const {
    return std::make_shared<Observation>(seen);
  }

  Result<void> may_go_on(const Observation& seen, const Space& space) const {
    if (seen.holder && is_ancestor(seen.holder->process)) {
      return fail(Error{Code::held,
                        "you hold " + key_.text() +
                            " yourself: this command runs inside the `tenure run` that holds it, so to wait for its "
                            "end would never end",
                        {},
                        shared(seen)});
    }
    if (const auto circle = circle_of(space, seen, false)) {
      return fail(Error{Code::held, "to wait would never end: " + *circle, {}, shared(seen)});
    }
    if (!wait_ || waited() < *wait_) return {};
    return fail(Error{Code::timed_out, key_.text() + " is still held after " + words(*wait_), {}, shared(seen)});
  }

  // Each holder is told of once, and its death watched for.
  Result<void> meet(const Observation& seen, const Space& space) {
    if (met_ && met_->state == seen.state && met_->epoch == seen.epoch) return {};
    met_ = seen;
    if (!arguments_.quiet) complain(waiting_message(seen, space, wait_, arguments_.json));
    one_has_ended_ = false;
    return watch_deaths(seen.holder);
  }

  // A lease that is kept for another process lasts while either lives.
  Result<void> watch_other(const std::optional<Holder>& holder) {
    return watch_deaths(std::exchange(one_has_ended_, true) ? std::nullopt : holder);
  }

  Result<void> watch_deaths(const std::optional<Holder>& holder) {
    deaths_.reset();
    if (!holder) return {};
    auto deaths = Deaths::watch(*holder);
    if (!deaths) return fail(deaths.error());
    deaths_ = std::move(*deaths);
    return {};
  }

  // Until when nothing need be looked at if nothing is told.
  Duration patience(const Observation& seen) const {
    Duration bound = kLookAnyway;
    if (seen.frees_in) bound = std::min(bound, *seen.frees_in + kAfterTtl);
    if (wait_) bound = std::min(bound, *wait_ - waited());
    return std::max(bound, Duration{0});
  }

  const Arguments& arguments_;
  const Key& key_;
  const std::optional<Duration> wait_;
  const std::shared_ptr<const env::Clock> clock_ = compose::real_clock();
  const MonotonicTime begun_;
  std::optional<Observation> met_;
  std::unique_ptr<Deaths> deaths_;
  bool one_has_ended_ = false;  // of the holder's processes
};

std::string shown(const Observation& seen, const Space& space, Duration waited, bool json) {
  const Viewpoint from = viewpoint_of(space);
  if (json) {
    boost::json::object line = to_json(seen, from);
    line["waited_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
    return boost::json::serialize(line) + "\n";
  }
  std::string text = seen.key.text() + " is free";
  if (seen.state != State::free) text += " to be taken: " + one_line(seen, from) + ": " + escape_controls(seen.why);
  std::string out;
  for (const std::string& line : wrap(text, kColumns)) out += line + "\n";
  return out;
}

// A member of a space is woken by what happens; who only looks must look again and again. So we join where we may, and
// look where we may not.
Result<Space> open_to_wait(const Arguments& arguments, Space looking) {
  auto joined = Space::open(chosen_url(arguments), {.create = false, .observe_only = false});
  return joined ? std::move(joined) : std::move(looking);
}

}  // namespace

Result<int> wait_command(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  const auto wishes = claim_options(arguments, std::nullopt);
  if (!wishes) return fail(wishes.error());
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  FreeWait waiting(arguments, *key, wishes->wait);
  auto seen = space->holder(*key);
  if (seen && is_held(*seen)) {
    space = open_to_wait(arguments, std::move(*space));
    seen = waiting.until_free(*space);
  }
  if (!seen && arguments.quiet && seen.error().code == Code::timed_out) return facts(Code::timed_out).exit_code;
  if (!seen) return fail(seen.error());
  if (arguments.quiet) return 0;
  if (auto printed = print(shown(*seen, *space, waiting.waited(), arguments.json)); !printed) {
    return fail(printed.error());
  }
  return 0;
}

}  // namespace tenure::cli
