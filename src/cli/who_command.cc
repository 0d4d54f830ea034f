#include <algorithm>

#include "cli/command.h"
#include "cli/layout.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

std::string shown(const Observation& seen, const Viewpoint& from, bool json) {
  if (json) return boost::json::serialize(to_json(seen, from)) + "\n";
  std::string out;
  for (const std::string& line : wrap(seen.key.text() + " is " + one_line(seen, from), kColumns)) out += line + "\n";
  return out + fields(seen, from);
}

// Those who are gone, or past their TTL, do not count.
bool only_holder(const Observation& seen, const std::string& owner) {
  if (seen.together.empty()) return seen.holder && seen.holder->owner == owner;
  return std::ranges::all_of(seen.together,
                             [&](const Companion& each) { return each.over || each.holder.owner == owner; });
}

}  // namespace

Result<int> who_command(const Arguments& arguments) {
  auto key = key_of(arguments);
  if (!key) return fail(key.error());
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  auto seen = space->holder(*key);
  if (!seen) return fail(seen.error());
  if (!arguments.quiet) {
    if (auto printed = print(shown(*seen, viewpoint_of(*space), arguments.json)); !printed) {
      return fail(printed.error());
    }
  }
  if (!arguments.quiet && !arguments.except) return 0;
  // A damaged record names nobody, so it may be anybody's.
  const bool only_excepted = arguments.except && only_holder(*seen, *arguments.except);
  return is_held(*seen) && !only_excepted ? 0 : 1;
}

}  // namespace tenure::cli
