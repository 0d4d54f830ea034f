// run: a command under a lease, or several.
#include <algorithm>
#include <memory>
#include <mutex>

#include "base/text.h"
#include "cli/ask_view.h"
#include "cli/claiming.h"
#include "cli/command.h"
#include "cli/error_view.h"
#include "cli/guardian.h"
#include "cli/nesting.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/run_messages.h"
#include "cli/run_plan.h"
#include "cli/run_wait.h"
#include "cli/status_file.h"
#include "cli/supervisor.h"
#include "cli/terminal.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

// One run, from the claim to the exit code.
class Run {
 public:
  Run(const Arguments& arguments, RunPlan plan, Space space, SignalGate gate, StatusFile status, RunGroup group)
      : arguments_(arguments),
        plan_(std::move(plan)),
        wanted_(plan_.keys.front()),
        space_(std::move(space)),
        gate_(std::move(gate)),
        status_(std::move(status)),
        group_(std::move(group)) {}

  ~Run() { let_go_of_all(); }

  Result<int> go() {
    const bool asked_for = arguments_.on_ask && plan_.on_ask.what != AskPolicy::What::ignore;
    if (asked_for && !space_.traits().asks) {
      return failed(Error{Code::unsupported, "the engine '" + space_.traits().name + "' does not let holders be asked",
                          "leave --on-ask out, or use a local: space", nullptr});
    }
    RunWait wait(space_, gate_, arguments_);
    if (auto claimed = claim_all(wait); !claimed) {
      if (wait.signal() != 0) return interrupted(wait.signal());
      return failed(claimed.error());
    }
    return hold(wait);
  }

 private:
  Result<int> failed(const Error& error) {
    int exit_code = show_error(error, arguments_.json, space_.url(), &wanted_);
    const bool busy = error.code == Code::held || error.code == Code::timed_out;
    if (busy && plan_.busy_exit) exit_code = *plan_.busy_exit;
    status_.by_tenure(exit_code, facts(error.code).name);
    return exit_code;
  }

  // One after the other, in one order for all: see Space::claim_all(). What is got already goes back with an error.
  Result<void> claim_all(RunWait& wait) {
    const auto clock = compose::real_clock();
    const MonotonicTime begun = clock->monotonic();
    for (const std::size_t number : plan_.order) {
      wanted_ = plan_.keys[number];
      ClaimOptions options = plan_.options;
      // A wait that ran out on the way stays a wait: what is refused then has timed out.
      if (options.wait && *options.wait > Duration{0}) {
        options.wait = std::max(*options.wait - (clock->monotonic() - begun), Duration{1});
      }
      auto got = wait.claim(wanted_, options, !held_.empty());
      if (got && wait.signal() != 0) got = fail(Code::cancelled, "interrupted");
      if (!got) return fail(got.error());
      if (number == 0) {
        first_epoch_ = got->epoch;
        if (arguments_.slots) first_slot_ = got->slot.value_or(0);
      }
      if (!got->lease) continue;
      complain(grant_message(*got->lease, space_, arguments_.json));
      if (auto kept = keep(std::move(*got->lease)); !kept) return kept;
    }
    return {};
  }

  Result<void> keep(Lease lease) {
    auto held = std::make_unique<Held>(std::move(lease), std::nullopt);
    Held& kept = *held;
    {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(held));
    }
    auto renewer = Renewer::start(kept.lease, plan_.options.terms.ttl, [this] { tell_deadline(); });
    if (!renewer) return fail(renewer.error());
    kept.renewer.emplace(std::move(*renewer));
    return {};
  }

  // Those who renew are waited for outside of the lock, which they may want.
  void let_go_of_all() {
    AllHeld former;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    deadline_ = nullptr;
    former.swap(held_);
  }

  // The first end of all. Called by those who renew, too.
  void tell_deadline() {
    const std::lock_guard lock(mutex_);
    std::optional<Duration> least;
    for (const auto& each : held_) {
      const auto left = each->lease.remaining();
      if (left && (!least || *left < *least)) least = left;
    }
    if (deadline_ == nullptr) return;
    deadline_->set(least ? std::optional(compose::real_clock()->boottime() + *least) : std::nullopt);
  }

  // A lease that was granted in the same moment is given back by its destructor.
  int interrupted(int signal) {
    const int exit_code = 128 + signal;
    const std::string text = std::string("gave up: SIG") + name_of_signal(signal);
    complain(no_command_message("interrupted", text, exit_code, arguments_.json));
    status_.by_tenure(exit_code, "interrupted");
    return exit_code;
  }

  Variables variables() const {
    std::string holds = holds_before();
    for (const auto& each : held_) holds = holds_with(holds, each->lease, space_.url());
    // Also without slots, or that of a run around this one would be taken for ours.
    return {{"TENURE_KEY", plan_.keys.front().text()},
            {"TENURE_EPOCH", first_epoch_.text()},
            {"TENURE_SPACE", space_.url()},
            {"TENURE_SLOT", first_slot_ ? std::to_string(*first_slot_) : ""},
            {kHoldsVariable, holds}};
  }

  ChildPlan child_plan() const {
    ChildPlan child{arguments_.command, variables(), {}, group_.descriptor(), plan_.group == GroupWish::require};
    for (const auto& each : held_) {
      if (each->lease.life_descriptor() >= 0) child.life_descriptors.push_back(each->lease.life_descriptor());
    }
    return child;
  }

  std::string all_keys() const {
    std::string out;
    for (const Key& key : plan_.keys) out += (out.empty() ? "" : ", ") + escape_controls(key.text());
    return out;
  }

  AskDesk::Telling telling() const {
    return {.asked = [this](const Lease& lease,
                            const Ask& ask) { complain(ask_message(lease, ask, space_, arguments_.json)); },
            .answered =
                [this](std::string_view event, const Lease& lease, const Ask& ask, const std::string& words) {
                  complain(answer_message(event, lease, ask, words, arguments_.json));
                }};
  }

  Variables variables_of(const Lease& lease) const {
    Variables out = variables();
    out[0].second = lease.key().text();
    out[1].second = lease.epoch().text();
    return out;
  }

  AskDesk::Start asking_hook() const {
    return [this](const Lease& lease, const Ask& ask) {
      Variables more = variables_of(lease);
      more.emplace_back("TENURE_ASK_REASON", ask.reason);
      more.emplace_back("TENURE_ASK_BY", ask.by);
      more.emplace_back("TENURE_ASK_DEADLINE", iso8601(ask.until));
      return Hook::start("--on-ask", plan_.on_ask.command, more, gate_, true);
    };
  }

  Watchwords watchwords(const Guardian& guardian) const {
    Watchwords words{.at_loss = plan_.options.terms.at_loss,
                     .grace = plan_.grace,
                     .whole_tree = plan_.whole_tree,
                     .json = arguments_.json};
    words.on_loss = [this](const Lease& lease, const Loss& loss) {
      complain(loss_message(lease, loss, space_, arguments_.json));
    };
    if (plan_.hook.empty()) return words;
    words.hook = [this, &guardian](const Lease& lease, const Loss& loss) {
      Variables more = variables_of(lease);
      more.emplace_back("TENURE_WHY", loss.why);
      more.emplace_back("TENURE_PID", std::to_string(guardian.main()));
      return Hook::start("--on-lost", plan_.hook, more, gate_);
    };
    return words;
  }

  // What is held around us is not given back: the run around us sees to it, and to its loss.
  Result<int> hold(RunWait& wait) {
    auto deadline = SharedDeadline::make();
    if (!deadline) return failed(deadline.error());
    {
      const std::lock_guard lock(mutex_);
      deadline_ = &*deadline;
    }
    tell_deadline();
    auto outcome = command(*deadline, wait);
    if (outcome && !outcome->loss) outcome->loss = give_back();
    const auto end = deadline->get();
    let_go_of_all();
    if (!outcome) return outcome.error();
    if (!outcome->loss) return outcome->yielded ? yielded(outcome->end) : ended(outcome->end);
    if (end && outcome->at > *end) complain(overrun_message(outcome->at - *end, arguments_.json));
    return lost(outcome->end);
  }

  // Runs it to its end; what was told already otherwise, as an exit code.
  std::expected<Supervised, int> command(const SharedDeadline& deadline, RunWait& wait) {
    const Terminal terminal;
    gate_.widen();
    const ChildPlan child = child_plan();
    const bool ends = plan_.options.terms.at_loss != AtLoss::warn;
    const GuardianPlan plan{
        child,      gate_,           deadline, plan_.grace, plan_.whole_tree, ends, "the lease of " + all_keys(),
        all_keys(), arguments_.json, group_};
    auto guardian = Guardian::start(plan, [&] { return !wait.interrupted(); });
    if (!guardian && guardian.error().exit_code == 0) return std::unexpected(interrupted(wait.signal()));
    if (!guardian) return std::unexpected(not_started(guardian.error()));
    AskDesk desk(plan_.on_ask, telling(), asking_hook());
    for (const auto& each : held_) {
      if (auto opened = desk.open_for(each->lease); !opened)
        complain(render(opened.error(), arguments_.json, space_.url()));
    }
    Supervised outcome = supervise(*guardian, held_, gate_, desk, watchwords(*guardian));
    terminal.take_back();
    return outcome;
  }

  int not_started(const Child::NotStarted& problem) {
    complain(no_command_message("not_started", problem.message, problem.exit_code, arguments_.json));
    status_.by_tenure(problem.exit_code, "not_started");
    return problem.exit_code;
  }

  // The command is gone. A loss that was not known yet shows here, and counts.
  std::optional<Loss> give_back() {
    std::optional<Loss> first;
    for (const auto& each : held_) {
      auto loss = give_back(each->lease);
      if (!first) first = std::move(loss);
    }
    return first;
  }

  std::optional<Loss> give_back(Lease& lease) {
    auto released = lease.release();
    if (released && *released) return std::nullopt;
    if (released || facts(released.error().code).outcome == Outcome::lost) {
      Loss loss = lease.loss().value_or(Loss{released ? "it had been given back already" : released.error().message,
                                             released ? nullptr : released.error().holder});
      complain(loss_message(lease, loss, space_, arguments_.json));
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

  // It is told apart from a loss by the status file alone: for a caller the command was ended early in both.
  int yielded(const ChildEnd& end) {
    status_.by_tenure(facts(Code::lost).exit_code, "yielded", end);
    return facts(Code::lost).exit_code;
  }

  int ended(const ChildEnd& end) {
    signal_to_die_of_ = end.signal;
    return status_.by_command(end);
  }

 public:
  int signal_to_die_of() const { return signal_to_die_of_; }

 private:
  const Arguments& arguments_;
  RunPlan plan_;
  Key wanted_;  // the key that is claimed now
  Space space_;
  SignalGate gate_;
  StatusFile status_;
  RunGroup group_;
  Epoch first_epoch_;                        // of the first key that was named
  std::optional<std::uint32_t> first_slot_;  // and in which of several slots
  std::mutex mutex_;                         // of the two below, where they change and where those who renew read them
  AllHeld held_;
  SharedDeadline* deadline_ = nullptr;
  int signal_to_die_of_ = 0;
};

// It is made before the claim, which names it.
Result<RunGroup> group_for(const RunPlan& plan, const Space& space) {
  if (space.traits().control_groups) return RunGroup::make(plan.group);
  if (plan.group != GroupWish::require) return RunGroup();
  return fail(Code::unsupported,
              "--cgroup require: in the spaces of '" + space.traits().name +
                  "' a lease names no control group, so it would prove nothing",
              "leave it out, or use local:");
}

}  // namespace

Result<int> run_command(const Arguments& arguments) {
  auto plan = run_plan_of(arguments);
  if (!plan) return fail(plan.error());
  auto status = StatusFile::open(arguments.status_file, arguments.json);
  if (!status) return fail(status.error());
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  auto space = open_chosen(arguments);
  if (!space) {
    status->by_tenure(facts(space.error().code).exit_code, facts(space.error().code).name);
    return fail(space.error());
  }
  auto group = group_for(*plan, *space);
  if (!group) {
    status->by_tenure(facts(group.error().code).exit_code, facts(group.error().code).name);
    return fail(group.error());
  }
  plan->options.control_group = group->folder();
  int signal = 0;
  Result<int> exit_code = 0;
  {
    Run run(arguments, std::move(*plan), std::move(*space), std::move(*gate), std::move(*status), std::move(*group));
    exit_code = run.go();
    signal = run.signal_to_die_of();
  }
  // The lease is given back and the space closed: as shells expect it of a wrapper, we end as the command did.
  if (signal != 0) die_of(signal);
  return exit_code;
}

}  // namespace tenure::cli
