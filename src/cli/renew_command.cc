#include <boost/json.hpp>

#include "cli/command.h"
#include "cli/handle_input.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Result<int> renew(const Space& space, const Handle& handle, const Arguments& arguments) {
  auto late = space.renew(handle);
  if (!late) return fail(late.error());
  // What is left is for people: not to be had is no reason to call a renewal failed.
  const auto left = space.verify(handle).value_or(std::nullopt);
  std::string line;
  if (arguments.json) {
    boost::json::object out{{"key", handle.key.text()}, {"epoch", handle.epoch.value()}};
    if (*late) out["late_ms"] = milliseconds(**late);
    if (left) out["remaining_ms"] = milliseconds(*left);
    line = boost::json::serialize(out);
  } else {
    line = handle.key.text() + ": renewed, epoch " + handle.epoch.text();
    if (left) line += ", " + words(*left) + " left";
    if (*late) line += "; it was late by " + words(**late) + ", with nobody in between";
  }
  if (auto printed = print(line + "\n"); !printed) return fail(printed.error());
  return 0;
}

}  // namespace

Result<int> renew_command(const Arguments& arguments) {
  return with_handle(arguments, renew);
}

}  // namespace tenure::cli
