#include <algorithm>

#include "base/text.h"
#include "cli/clear_dead.h"
#include "cli/command.h"
#include "cli/error_view.h"
#include "cli/layout.h"
#include "cli/numbers.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

Result<RevokeOptions> wishes(const Arguments& arguments, const Key& key) {
  RevokeOptions options;
  options.force = arguments.force;
  options.reason = arguments.reason.value_or("");
  auto epoch = epoch_of(arguments.epoch);
  if (!epoch) return fail(epoch.error());
  options.only_epoch = *epoch;
  if (options.force && options.reason.empty()) {
    return fail(Code::usage, "--force needs a --reason: the holder is told, and it is recorded",
                "tenure revoke" + space_option(arguments) + " --force --reason 'needed elsewhere' -- " +
                    shell_word(key.text()));
  }
  return options;
}

std::string counted(const Clearance& done) {
  const std::size_t count = done.cleared.size();
  if (count == 0 && !done.failed.empty()) return "nothing was cleared\n";
  std::string out = count == 0   ? "nothing is held by a dead holder"
                    : count == 1 ? "1 lease cleared"
                                 : std::to_string(count) + " leases cleared";
  if (done.left != 0) out += ", " + std::to_string(done.left) + " left alone";
  return out + "\n";
}

std::string as_text(const Clearance& done, const Viewpoint& from) {
  std::string out;
  for (const Observation& was : done.cleared) {
    const std::string text = was.key.text() + ": cleared, was " + one_line(was, from) + ": " + was.verdict.evidence;
    std::string indent;
    for (const std::string& line : wrap(escape_controls(text), kColumns - 2)) {
      out += indent + line + "\n";
      indent = "  ";
    }
  }
  return out + counted(done);
}

std::string as_json(const Clearance& done, const Viewpoint& from) {
  boost::json::array cleared;
  for (const Observation& was : done.cleared) {
    cleared.push_back(boost::json::object{{"key", was.key.text()},
                                          {"epoch", was.epoch.value()},
                                          {"evidence", was.verdict.evidence},
                                          {"was", to_json(was, from)}});
  }
  return boost::json::serialize(boost::json::object{{"space", from.url},
                                                    {"location", from.location},
                                                    {"cleared", std::move(cleared)},
                                                    {"cleared_count", done.cleared.size()},
                                                    {"left_count", done.left}}) +
         "\n";
}

// A word beside --dead could be meant as a key or as a prefix: it is neither.
Result<void> only_the_dead(const Arguments& arguments) {
  const std::string command = "tenure revoke" + space_option(arguments);
  if (arguments.key) {
    return fail(Code::usage,
                "--dead takes no KEY. To clear a KEY whose holder is dead: " + command + " -- " +
                    shell_word(*arguments.key) + ". To clear all the dead that begin so:",
                command + " --dead --prefix=" + shell_word(*arguments.key));
  }
  if (arguments.force || arguments.epoch) {
    return fail(Code::usage, "--dead takes what is proven dead, as it was seen: it wants no --force and no --epoch",
                command + " --dead");
  }
  return {};
}

Result<int> revoke_dead(const Arguments& arguments) {
  if (auto right = only_the_dead(arguments); !right) return fail(right.error());
  // Where there is nothing to clear, leave to look is enough.
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  auto seen = space->list(arguments.prefix.value_or(""));
  if (!seen) return fail(seen.error());
  if (std::any_of(seen->begin(), seen->end(), held_by_dead)) {
    space = Space::open(chosen_url(arguments), {.create = false, .observe_only = false});
    if (!space) return fail(space.error());
  }
  const Clearance done = clear_dead(*space, *seen, arguments.reason.value_or(""));
  const Viewpoint from = viewpoint_of(*space);
  if (auto printed = print(arguments.json ? as_json(done, from) : as_text(done, from)); !printed) {
    return fail(printed.error());
  }
  int exit_code = 0;
  for (const auto& [key, error] : done.failed) {
    const int code = show_error(error, arguments.json, space->url(), &key);
    if (exit_code == 0) exit_code = code;
  }
  return exit_code;
}

}  // namespace

Result<int> revoke_command(const Arguments& arguments) {
  if (arguments.dead) return revoke_dead(arguments);
  if (arguments.prefix) {
    return fail(Code::usage, "--prefix is for --dead: a key of a live holder is taken one at a time",
                "tenure revoke" + space_option(arguments) + " --dead --prefix=" + shell_word(*arguments.prefix));
  }
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  auto options = wishes(arguments, *key);
  if (!options) return fail(options.error());
  auto space = Space::open(chosen_url(arguments), {.create = false, .observe_only = false});
  if (!space) return fail(space.error());
  auto was = space->revoke(*key, *options);
  if (!was) return fail(was.error());
  const Viewpoint from = viewpoint_of(*space);
  std::string shown;
  if (arguments.json) {
    shown = boost::json::serialize(
                boost::json::object{{"key", key->text()}, {"revoked", true}, {"was", to_json(*was, from)}}) +
            "\n";
  } else {
    for (const std::string& line : wrap(key->text() + ": revoked, was " + one_line(*was, from), kColumns)) {
      shown += line + "\n";
    }
  }
  if (auto printed = print(shown); !printed) return fail(printed.error());
  return 0;
}

}  // namespace tenure::cli
