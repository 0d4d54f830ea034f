#include "cli/command.h"
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

}  // namespace

Result<int> revoke_command(const Arguments& arguments) {
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
