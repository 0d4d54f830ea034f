// run: a command under a lease.
#include "base/text.h"
#include "cli/ancestors.h"
#include "cli/claiming.h"
#include "cli/command.h"
#include "cli/error_view.h"
#include "cli/guardian.h"
#include "cli/layout.h"
#include "cli/nesting.h"
#include "cli/numbers.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/sentinel.h"
#include "cli/status_file.h"
#include "cli/supervisor.h"
#include "cli/terminal.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr Duration kGrace = std::chrono::seconds(10);

// What came of a wait that was not an error.
struct Got {
  std::optional<Lease> lease;  // nullopt: we run inside the command of whoever holds it, under its lease
  Epoch epoch;
};

// The wait for the lease, with all that can end it.
class Waiting {
 public:
  Waiting(const Space& space, const SignalGate& gate, const Stop& stop, const Arguments& arguments)
      : space_(space), gate_(gate), stop_(stop), arguments_(arguments) {}

  Result<Got> claim(const Key& key, ClaimOptions options) {
    options.stop = &stop_;
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
    if (!decided_ && holder && lease.error().code == Code::held) decide(*holder);
    if (nested_) return Got{std::nullopt, *nested_};
    return fail(refusal_ ? *refusal_ : lease.error());
  }

  // A signal that ends the wait, 0 for none. Also asked once more when the command is about to begin.
  int signal() const { return signal_; }
  bool interrupted() {
    while (const auto taken = gate_.take()) {
      if (gate_.inert(taken->number)) continue;
      signal_ = taken->number;
      return true;
    }
    return false;
  }

 private:
  // For signals, from here on.
  void watch() {
    if (sentinel_ || blind_) return;
    auto sentinel = Sentinel::post(stop_, {gate_.descriptor()}, [this](std::size_t) { return interrupted(); });
    if (sentinel) {
      sentinel_.emplace(std::move(*sentinel));
    } else {
      blind_ = sentinel.error();
      stop_.request();
    }
  }

  void tell(const Observation& seen, std::optional<Duration> wait) {
    watch();
    decide(seen);
    if (decided_) return stop_.request();
    complain(waiting_message(seen, space_, wait, arguments_.json));
  }

  // Whether there is no point in waiting for this holder.
  void decide(const Observation& seen) {
    const auto refuse = [&](const std::string& text) {
      refusal_ = Error{Code::held, text, {}, std::make_shared<Observation>(seen)};
    };
    const std::string key = escape_controls(seen.key.text());
    const Nesting nesting = nesting_in(seen, space_.url());
    if (nesting == Nesting::within && !arguments_.no_reentrant) {
      nested_ = seen.epoch;
    } else if (nesting == Nesting::within || nesting == Nesting::unasked) {
      refuse("you hold " + key + " already: this command runs inside " +
             (nesting == Nesting::within ? "the `tenure run` that holds it" : "the process that holds it") +
             ", so to wait for its end would never end");
    } else if (nesting == Nesting::elsewhere && !std::exchange(told_of_elsewhere_, true)) {
      complain("tenure: note: TENURE_HOLDS names " + key +
               ", but this does not run inside the\n"
               "`tenure run` that holds it: ignored\n");
    }
    if (!nested_ && !refusal_) {
      if (const auto circle = circle_of(space_, seen)) {
        refuse("to wait for " + key + " would never end: " + *circle);
      }
    }
    decided_ = nested_.has_value() || refusal_.has_value();
  }

  const Space& space_;
  const SignalGate& gate_;
  const Stop& stop_;
  const Arguments& arguments_;
  int signal_ = 0;
  bool decided_ = false;
  std::optional<Epoch> nested_;  // under which it is held around us
  bool told_of_elsewhere_ = false;
  std::optional<Error> refusal_;
  std::optional<Sentinel> sentinel_;
  std::optional<Error> blind_;  // signals could not be watched for
};

struct Plan {
  Key key;
  ClaimOptions options;
  Duration grace;
  std::string hook;  // what --on-lost says, where it is a command
  bool whole_tree = false;
  std::optional<int> busy_exit;
};

Result<bool> whole_tree_of(const Arguments& arguments) {
  if (!arguments.until || *arguments.until == "main") return false;
  if (*arguments.until == "tree") return true;
  return fail(Code::usage, "--until wants main or tree, not " + escape_controls(*arguments.until));
}

Result<std::optional<int>> busy_exit_of(const Arguments& arguments) {
  if (!arguments.busy_exit) return std::nullopt;
  const auto code = number_of(*arguments.busy_exit, 255, "--busy-exit");
  if (!code) return fail(code.error());
  return static_cast<int>(*code);
}

Result<Plan> plan_of(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  if (arguments.command.empty()) {
    return fail(Code::usage, "there is no command to run: it follows \"--\"",
                "tenure run" + space_option(arguments) + " --key=" + shell_word(key->text()) + " -- true");
  }
  auto options = claim_options(arguments, std::nullopt);
  if (!options) return fail(options.error());
  auto grace = duration_of(arguments.grace, "--grace");
  if (!grace) return fail(grace.error());
  options->keep_life_descriptor = true;
  auto whole_tree = whole_tree_of(arguments);
  if (!whole_tree) return fail(whole_tree.error());
  auto busy_exit = busy_exit_of(arguments);
  if (!busy_exit) return fail(busy_exit.error());
  return Plan{*key, *options, grace->value_or(kGrace), loss_command(arguments), *whole_tree, *busy_exit};
}

std::string loss_message(const Key& key, Epoch epoch, const Loss& loss, const Space& space, bool json) {
  const Viewpoint from = viewpoint_of(space);
  if (json) {
    boost::json::object line{{"event", "lost"}, {"key", key.text()}, {"epoch", epoch.value()}, {"why", loss.why}};
    if (loss.successor) line["successor"] = to_json(*loss.successor, from);
    return boost::json::serialize(line) + "\n";
  }
  std::string text = "tenure: lost " + key.text() + ", epoch " + epoch.text() + ": " + escape_controls(loss.why);
  if (loss.successor) text += "; it is now " + one_line(*loss.successor, from);
  std::string out;
  for (const std::string& line : wrap(text, kColumns)) out += line + "\n";
  if (loss.successor && loss.successor->state != State::free) out += fields(*loss.successor, from);
  return out;
}

// One run, from the claim to the exit code.
class Run {
 public:
  Run(const Arguments& arguments, Plan plan, Space space, SignalGate gate, StatusFile status)
      : arguments_(arguments),
        plan_(std::move(plan)),
        space_(std::move(space)),
        gate_(std::move(gate)),
        status_(std::move(status)) {}

  Result<int> go() {
    auto stop = Stop::create();
    if (!stop) return failed(stop.error());
    Waiting waiting(space_, gate_, *stop, arguments_);
    auto got = waiting.claim(plan_.key, plan_.options);
    if (waiting.signal() != 0) return interrupted(waiting.signal());
    if (!got) return failed(got.error());
    if (!got->lease) return run_within(got->epoch, waiting);
    complain(grant_message(*got->lease, space_, arguments_.json));
    return hold(*got->lease, waiting);
  }

 private:
  Result<int> failed(const Error& error) {
    int exit_code = show_error(error, arguments_.json, space_.url(), &plan_.key);
    const bool busy = error.code == Code::held || error.code == Code::timed_out;
    if (busy && plan_.busy_exit) exit_code = *plan_.busy_exit;
    status_.by_tenure(exit_code, facts(error.code).name);
    return exit_code;
  }

  // A lease that was granted in the same moment is given back by its destructor.
  int interrupted(int signal) {
    const int exit_code = 128 + signal;
    const std::string text = std::string("gave up: SIG") + name_of_signal(signal);
    if (arguments_.json) {
      complain(boost::json::serialize(boost::json::object{
                   {"error", {{"code", "interrupted"}, {"message", text}, {"exit_code", exit_code}}}}) +
               "\n");
    } else {
      complain("tenure: " + text + "\n");
    }
    status_.by_tenure(exit_code, "interrupted");
    return exit_code;
  }

  Variables variables(const Key& key, Epoch epoch) const {
    return {{"TENURE_KEY", key.text()}, {"TENURE_EPOCH", epoch.text()}, {"TENURE_SPACE", space_.url()}};
  }

  Variables variables(const Lease& lease) const {
    Variables out = variables(lease.key(), lease.epoch());
    out.emplace_back(kHoldsVariable, holds_with(lease, space_.url()));
    return out;
  }

  Watchwords watchwords(const Lease& lease, const Guardian& guardian) const {
    Watchwords words{.at_loss = plan_.options.terms.at_loss, .grace = plan_.grace, .whole_tree = plan_.whole_tree};
    words.on_loss = [this, &lease](const Loss& loss) {
      complain(loss_message(lease.key(), lease.epoch(), loss, space_, arguments_.json));
    };
    if (plan_.hook.empty()) return words;
    words.hook = [this, &lease, &guardian](const Loss& loss) {
      Variables more = variables(lease);
      more.emplace_back("TENURE_WHY", loss.why);
      more.emplace_back("TENURE_PID", std::to_string(guardian.main()));
      return LossHook::start(plan_.hook, more, gate_);
    };
    return words;
  }

  // The lease is that of the run around us, which sees to its loss: it ends us too then.
  Result<int> run_within(Epoch epoch, Waiting& waiting) {
    auto deadline = SharedDeadline::make();
    if (!deadline) return failed(deadline.error());
    Watchwords words{.grace = plan_.grace, .whole_tree = plan_.whole_tree};
    const ChildPlan child{arguments_.command, variables(plan_.key, epoch), -1};
    auto outcome = command(child, nullptr, *deadline, waiting, [&](const Guardian&) { return words; });
    return outcome ? ended(outcome->end) : outcome.error();
  }

  Result<int> hold(Lease& lease, Waiting& waiting) {
    auto deadline = SharedDeadline::make();
    if (!deadline) return failed(deadline.error());
    const auto clock = compose::real_clock();
    const auto renewed = [&] {
      const auto left = lease.remaining();
      deadline->set(left ? std::optional(clock->boottime() + *left) : std::nullopt);
    };
    renewed();
    auto renewer = Renewer::start(lease, plan_.options.terms.ttl, renewed);
    if (!renewer) return failed(renewer.error());
    const Held held{lease, *renewer};
    const ChildPlan child{arguments_.command, variables(lease), lease.life_descriptor()};
    auto outcome = command(child, &held, *deadline, waiting,
                           [&](const Guardian& guardian) { return watchwords(lease, guardian); });
    if (!outcome) return outcome.error();
    if (!outcome->loss) outcome->loss = give_back(lease);
    if (!outcome->loss) return ended(outcome->end);
    if (const auto end = deadline->get(); end && clock->boottime() > *end) tell_overrun(clock->boottime() - *end);
    return lost(outcome->end);
  }

  // Runs it to its end; what was told already otherwise, as an exit code.
  std::expected<Supervised, int> command(const ChildPlan& child, const Held* held, const SharedDeadline& deadline,
                                         Waiting& waiting, const std::function<Watchwords(const Guardian&)>& words) {
    const Terminal terminal;
    gate_.widen();
    const bool ends = plan_.options.terms.at_loss != AtLoss::warn;
    const GuardianPlan plan{child, gate_, deadline, plan_.grace, plan_.whole_tree, ends, plan_.key.text()};
    auto guardian = Guardian::start(plan, [&] { return !waiting.interrupted(); });
    if (!guardian && guardian.error().exit_code == 0) return std::unexpected(interrupted(waiting.signal()));
    if (!guardian) return std::unexpected(not_started(guardian.error()));
    Supervised outcome = supervise(*guardian, held, gate_, words(*guardian));
    terminal.take_back();
    return outcome;
  }

  void tell_overrun(Duration by) {
    if (arguments_.json) {
      const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(by).count();
      complain(boost::json::serialize(
                   boost::json::object{{"event", "overrun"}, {"key", plan_.key.text()}, {"overrun_ms", milliseconds}}) +
               "\n");
    } else {
      complain("tenure: the command ended " + tenure::words(by) + " past the deadline of its lease\n");
    }
  }

  int not_started(const Child::NotStarted& problem) {
    if (arguments_.json) {
      complain(
          boost::json::serialize(boost::json::object{
              {"error", {{"code", "not_started"}, {"message", problem.message}, {"exit_code", problem.exit_code}}}}) +
          "\n");
    } else {
      complain("tenure: " + problem.message + "\n");
    }
    status_.by_tenure(problem.exit_code, "not_started");
    return problem.exit_code;
  }

  // The command is gone. A loss that was not known yet shows here, and counts.
  std::optional<Loss> give_back(Lease& lease) {
    auto released = lease.release();
    if (released && *released) return std::nullopt;
    if (released || facts(released.error().code).outcome == Outcome::lost) {
      Loss loss = lease.loss().value_or(Loss{released ? "it had been given back already" : released.error().message,
                                             released ? nullptr : released.error().holder});
      complain(loss_message(lease.key(), lease.epoch(), loss, space_, arguments_.json));
      return loss;
    }
    // It ends with this process all the same.
    complain(render(released.error(), arguments_.json, space_.url()));
    return std::nullopt;
  }

  int lost(const ChildEnd& end) {
    const CodeFacts& line = facts(Code::lost);
    status_.by_tenure(line.exit_code, line.name, end);
    return line.exit_code;
  }

  int ended(const ChildEnd& end) {
    status_.by_command(end);
    signal_to_die_of_ = end.signal;
    return end.exit_code;
  }

 public:
  int signal_to_die_of() const { return signal_to_die_of_; }

 private:
  const Arguments& arguments_;
  Plan plan_;
  Space space_;
  SignalGate gate_;
  StatusFile status_;
  int signal_to_die_of_ = 0;
};

}  // namespace

Result<int> run_command(const Arguments& arguments) {
  auto plan = plan_of(arguments);
  if (!plan) return fail(plan.error());
  auto status = StatusFile::open(arguments.status_file);
  if (!status) return fail(status.error());
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  auto space = open_chosen(arguments);
  if (!space) {
    status->by_tenure(facts(space.error().code).exit_code, facts(space.error().code).name);
    return fail(space.error());
  }
  int signal = 0;
  Result<int> exit_code = 0;
  {
    Run run(arguments, std::move(*plan), std::move(*space), std::move(*gate), std::move(*status));
    exit_code = run.go();
    signal = run.signal_to_die_of();
  }
  // The lease is given back and the space closed: as shells expect it of a wrapper, we end as the command did.
  if (signal != 0) die_of(signal);
  return exit_code;
}

}  // namespace tenure::cli
