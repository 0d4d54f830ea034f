#include <boost/json.hpp>

#include "cli/command.h"
#include "cli/handle_input.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

Result<int> verify(const Space& space, const Handle& handle, const Arguments& arguments) {
  auto left = space.verify(handle);
  if (!left) return fail(left.error());
  std::string line;
  if (arguments.json) {
    boost::json::object out{{"key", handle.key.text()}, {"epoch", handle.epoch.value()}, {"mine", true}};
    if (*left) out["remaining_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(**left).count();
    line = boost::json::serialize(out);
  } else {
    line = handle.key.text() + ": yours, epoch " + handle.epoch.text();
    if (*left) line += ", " + words(**left) + " left";
  }
  if (auto printed = print(line + "\n"); !printed) return fail(printed.error());
  return 0;
}

}  // namespace

Result<int> verify_command(const Arguments& arguments) {
  return with_handle(arguments, verify);
}

}  // namespace tenure::cli
