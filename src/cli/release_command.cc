#include <boost/json.hpp>

#include "cli/command.h"
#include "cli/handle_input.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

Result<int> release(const Space& space, const Handle& handle, const Arguments& arguments) {
  auto released = space.release(handle);
  if (!released) return fail(released.error());
  if (!*released) return fail(Code::lost, handle.key.text() + ": there was nothing to release any more");
  const std::string line = arguments.json
                               ? boost::json::serialize(boost::json::object{
                                     {"key", handle.key.text()}, {"epoch", handle.epoch.value()}, {"released", true}})
                               : handle.key.text() + ": released, epoch " + handle.epoch.text();
  if (auto printed = print(line + "\n"); !printed) return fail(printed.error());
  return 0;
}

}  // namespace

Result<int> release_command(const Arguments& arguments) {
  return with_handle(arguments, release);
}

}  // namespace tenure::cli
