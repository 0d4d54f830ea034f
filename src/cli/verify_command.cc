// verify: is a claim, named by its handle, still the current one? And: is an epoch of a key?
#include <boost/json.hpp>

#include "cli/command.h"
#include "cli/handle_input.h"
#include "cli/numbers.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "compose/current_epoch.h"

namespace tenure::cli {
namespace {

std::int64_t milliseconds(Duration span) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

Result<int> verify_handle(const Space& space, const Handle& handle, const Arguments& arguments) {
  auto left = space.verify(handle);
  if (!left) return fail(left.error());
  std::string line;
  if (arguments.json) {
    boost::json::object out{{"key", handle.key.text()}, {"epoch", handle.epoch.value()}, {"mine", true}};
    if (*left) out["remaining_ms"] = milliseconds(**left);
    line = boost::json::serialize(out);
  } else {
    line = handle.key.text() + ": yours, epoch " + handle.epoch.text();
    if (*left) line += ", " + words(**left) + " left";
  }
  if (auto printed = print(line + "\n"); !printed) return fail(printed.error());
  return 0;
}

Result<int> verify_epoch(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  auto epoch = epoch_of(arguments.epoch);
  if (!epoch) return fail(epoch.error());
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  if (auto current = compose::check_current(*space, *key, **epoch); !current) return fail(current.error());
  const std::string line = arguments.json ? boost::json::serialize(boost::json::object{
                                                {"key", key->text()}, {"epoch", (*epoch)->value()}, {"current", true}})
                                          : key->text() + ": epoch " + (*epoch)->text() + " is current";
  if (auto printed = print(line + "\n"); !printed) return fail(printed.error());
  return 0;
}

}  // namespace

Result<int> verify_command(const Arguments& arguments) {
  if (arguments.epoch) {
    if (!arguments.handle_file) return verify_epoch(arguments);
    return fail(Code::usage, "a handle names its own epoch: either KEY --epoch N or --handle-file");
  }
  if (arguments.space) {
    return fail(Code::usage, "--space goes with KEY --epoch N: a handle names its own space");
  }
  if (arguments.key && *arguments.key != "-") {
    // Not repeated: it may be half a secret.
    return fail(
        Code::usage,
        "an argument that is not an option: a key alone cannot be verified. With it comes --epoch N; a handle never "
        "comes as an argument",
        "TENURE_HANDLE=\"$handle\" tenure verify");
  }
  Arguments of_handle = arguments;
  // The one word that may stand alone: a handle, if it is "-".
  of_handle.handle_source = arguments.key;
  return with_handle(of_handle, verify_handle);
}

}  // namespace tenure::cli
