// ask: a holder is asked to yield.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/ask_view.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/sentinel.h"
#include "cli/signals.h"

namespace tenure::cli {
namespace {

Result<AskOptions> wishes(const Arguments& arguments, const Key& key) {
  AskOptions options;
  options.reason = arguments.reason.value_or("");
  if (options.reason.empty()) {
    return fail(Code::usage, "--reason is missing: the holder is to decide by it",
                "tenure ask" + space_option(arguments) + " --reason 'needed elsewhere' -- " + shell_word(key.text()));
  }
  options.owner = arguments.owner.value_or("");
  auto deadline = duration_of(arguments.deadline, "--deadline");
  if (!deadline) return fail(deadline.error());
  options.deadline = deadline->value_or(options.deadline);
  return options;
}

// A signal takes the request back: `signal` then.
Result<int> ask(const Arguments& arguments, const Key& key, AskOptions options, SignalGate& gate, int& signal) {
  auto space = open_chosen(arguments);
  if (!space) return fail(space.error());
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  options.stop = &*stop;
  auto sentinel = Sentinel::post(*stop, {gate.descriptor()}, [&](std::size_t) {
    const auto taken = gate.take();
    if (!taken || !gate.ends_a_wait(*taken)) return false;
    signal = taken->number;
    return true;
  });
  if (!sentinel) return fail(sentinel.error());
  auto asked = space->ask(key, options);
  sentinel->dismiss();
  if (!asked) return fail(asked.error());
  if (auto told = print(outcome_message(*asked, *space, arguments.json)); !told) return fail(told.error());
  const bool yields = asked->became == Became::accepted || asked->became == Became::ended;
  return yields ? 0 : facts(Code::held).exit_code;
}

}  // namespace

Result<int> ask_command(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  auto options = wishes(arguments, *key);
  if (!options) return fail(options.error());
  auto gate = SignalGate::close_gate();
  if (!gate) return fail(gate.error());
  int signal = 0;
  auto exit_code = ask(arguments, *key, *options, *gate, signal);
  if (signal != 0) die_of(signal);
  return exit_code;
}

}  // namespace tenure::cli
