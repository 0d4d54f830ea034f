// guard: a command while a key cannot change hands.
#include "base/text.h"
#include "cli/command.h"
#include "cli/error_view.h"
#include "cli/guards_around.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/run_messages.h"
#include "cli/run_wait.h"
#include "cli/supervisor.h"
#include "cli/terminal.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr Duration kGrace = std::chrono::seconds(10);

struct GuardPlan {
  Key key;
  Epoch epoch;
  std::optional<Duration> at_most;  // nullopt: what the space thinks good
  Duration grace;
};

Result<GuardPlan> plan_of(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  auto epoch = epoch_of(arguments.epoch);
  if (!epoch) return fail(epoch.error());
  if (!*epoch) {
    return fail(Code::usage,
                "--epoch N is missing: the epoch that your lease was granted under, in TENURE_EPOCH of run");
  }
  if (arguments.command.empty()) {
    return fail(Code::usage, "there is no command to run: it follows \"--\"",
                "tenure guard" + space_option(arguments) + " --epoch " + (*epoch)->text() +
                    " --key=" + shell_word(key->text()) + " -- true");
  }
  auto at_most = duration_of(arguments.guard_for, "--guard-for");
  if (!at_most) return fail(at_most.error());
  if (*at_most && **at_most <= Duration{0}) return fail(Code::bad_duration, "--guard-for must be more than 0");
  auto grace = duration_of(arguments.grace, "--grace");
  if (!grace) return fail(grace.error());
  return GuardPlan{std::move(*key), **epoch, *at_most, grace->value_or(kGrace)};
}

// One command under one guard.
class GuardRun {
 public:
  GuardRun(const Arguments& arguments, GuardPlan plan, Space space, SignalGate gate)
      : arguments_(arguments),
        plan_(std::move(plan)),
        space_(std::move(space)),
        gate_(std::move(gate)),
        wait_(space_, gate_, arguments_),
        name_(escape_controls(plan_.key.text())),
        at_most_(plan_.at_most.value_or(space_.traits().guard_for)) {}

  Result<int> go() {
    if (is_guarded_around(plan_.key, space_.url())) {
      return fail(Code::would_deadlock,
                  "this runs inside a command under the guard of " + plan_.key.text() + ", and would wait for itself",
                  "guard it once, around all of it");
    }
    warn_of_courtesy();
    const auto done = space_.guard(plan_.key, plan_.epoch, at_most_, [this] { return operation(); });
    if (not_started_) return *not_started_;
    const bool in_doubt = !done && done.error().code == Code::unknown_outcome;
    if (!end_ || in_doubt) return fail(done.error());
    if (at_bound_) {
      return fail(Code::unknown_outcome,
                  "the command under the guard of " + plan_.key.text() + " was ended at its bound of " +
                      words(at_most_) + ", and the guard dropped in the last moment; " + done.error().message,
                  "find out what it did before it is tried again");
    }
    signal_to_die_of_ = end_->signal;
    return end_->exit_code;
  }

  int signal_to_die_of() const { return signal_to_die_of_; }

 private:
  // Only the space of pi-amq's receiver lease has such neighbours.
  void warn_of_courtesy() const {
    const auto courtesy = space_.traits().guard_courtesy;
    if (!courtesy || at_most_ <= *courtesy) return;
    complain(notice("neighbours_refused",
                    "the guard of " + name_ + " may last " + words(at_most_) + ": from " + words(*courtesy) +
                        " on, processes of pi-amq that want the receiver are refused with lifecycle-busy",
                    arguments_.json));
  }

  // What the engine is told of it is what it tells in turn where the guard did not hold.
  Result<void> operation() {
    run_command();
    if (!end_) return fail(Code::internal, "the command was not run");
    if (end_->exit_code == 0 && !at_bound_) return {};
    return fail(Code::internal, end_->signal != 0
                                    ? std::string("the command died of SIG") + name_of_signal(end_->signal)
                                    : "the command ended with " + std::to_string(end_->exit_code));
  }

  void run_command() {
    auto deadline = SharedDeadline::make();
    if (!deadline) {
      not_started_ = show_error(deadline.error(), arguments_.json, space_.url(), &plan_.key);
      return;
    }
    const auto clock = compose::real_clock();
    deadline->set(clock->boottime() + at_most_);
    const MonotonicTime bound = clock->monotonic() + at_most_;
    const Terminal terminal;
    gate_.widen();
    const ChildPlan child{arguments_.command, variables(), {}, -1, false};
    RunGroup no_group;
    const std::string what = "the guard of " + name_;
    const GuardianPlan plan{child, gate_, *deadline, plan_.grace, false, true, what, what, arguments_.json, no_group};
    auto guardian = Guardian::start(plan, [&] { return !wait_.interrupted(); });
    if (!guardian) {
      not_started_ = told_not_started(guardian.error());
      return;
    }
    AskDesk nobody({}, {}, nullptr);
    const Supervised outcome = supervise(*guardian, {}, gate_, nobody, watchwords(bound));
    terminal.take_back();
    end_ = outcome.end;
    at_bound_ = outcome.at_bound;
  }

  Variables variables() const {
    return {{"TENURE_KEY", plan_.key.text()},
            {"TENURE_EPOCH", plan_.epoch.text()},
            {"TENURE_SPACE", space_.url()},
            {kGuardsVariable, guards_with(plan_.key, plan_.epoch, space_.url())}};
  }

  Watchwords watchwords(MonotonicTime bound) const {
    Watchwords words{.grace = plan_.grace, .json = arguments_.json};
    words.bound = bound;
    words.on_bound = [this] {
      complain(notice("bound",
                      "the guard of " + name_ + " is over after " + tenure::words(at_most_) +
                          ", and the lease given up: ending the command",
                      arguments_.json));
    };
    return words;
  }

  int told_not_started(const Child::NotStarted& problem) {
    const bool interrupted = problem.exit_code == 0;
    const int exit_code = interrupted ? 128 + wait_.signal() : problem.exit_code;
    const std::string message =
        interrupted ? std::string("gave up: SIG") + name_of_signal(wait_.signal()) : problem.message;
    complain(no_command_message(interrupted ? "interrupted" : "not_started", message, exit_code, arguments_.json));
    return exit_code;
  }

  const Arguments& arguments_;
  const GuardPlan plan_;
  const Space space_;
  SignalGate gate_;
  RunWait wait_;
  const std::string name_;
  const Duration at_most_;
  std::optional<int> not_started_;  // the exit code; it was told why
  std::optional<ChildEnd> end_;
  bool at_bound_ = false;
  int signal_to_die_of_ = 0;
};

}  // namespace

Result<int> guard_command(const Arguments& arguments) {
  auto plan = plan_of(arguments);
  if (!plan) return fail(plan.error());
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  auto space = open_present(arguments);
  if (!space) return fail(space.error());
  int signal = 0;
  Result<int> exit_code = 0;
  {
    GuardRun run(arguments, std::move(*plan), std::move(*space), std::move(*gate));
    exit_code = run.go();
    signal = run.signal_to_die_of();
  }
  // The guard is dropped and the space closed: as shells expect it of a wrapper, we end as the command did.
  if (signal != 0) die_of(signal);
  return exit_code;
}

}  // namespace tenure::cli
