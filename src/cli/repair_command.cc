// repair: what is wrong in a folder that pi-amq uses too, and what can be done about it.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "compose/open_receiver_space.h"

namespace tenure::cli {
namespace {

// What becomes of it, in a word.
std::string_view state_of(const ReceiverFault& fault, bool mended) {
  if (!fault.why_not.empty()) return "left";
  return mended ? "mended" : "would be mended";
}

std::string as_text(const std::vector<ReceiverFault>& faults, const std::string& url, bool mended) {
  if (faults.empty()) return escape_controls(url) + ": nothing is wrong\n";
  std::string out;
  for (const ReceiverFault& fault : faults) {
    out += hanging(std::string(state_of(fault, mended)) + ": ", escape_controls(fault.what));
    if (!fault.action.empty()) out += hanging("  action: ", escape_controls(fault.action));
    if (!fault.why_not.empty()) out += hanging("  why: ", escape_controls(fault.why_not));
  }
  return out;
}

std::string as_json(const std::vector<ReceiverFault>& faults, const std::string& url, bool mended) {
  boost::json::array all;
  for (const ReceiverFault& fault : faults) {
    all.push_back(boost::json::object{{"what", fault.what},
                                      {"action", fault.action},
                                      {"mended", mended && fault.why_not.empty()},
                                      {"why_not", fault.why_not}});
  }
  return boost::json::serialize(boost::json::object{{"space", url}, {"dry_run", !mended}, {"faults", std::move(all)}}) +
         "\n";
}

}  // namespace

Result<int> repair_command(const Arguments& arguments) {
  if (arguments.url && arguments.space) return fail(Code::usage, "two spaces at once: URL and --space");
  const std::string url = arguments.url ? *arguments.url : chosen_url(arguments);
  const bool mend = !arguments.dry_run;
  auto faults = compose::repair_receiver_space(url, mend, arguments.force, arguments.reason.value_or(""));
  if (!faults) return fail(faults.error());
  const std::string shown = arguments.json ? as_json(*faults, url, mend) : as_text(*faults, url, mend);
  if (auto printed = print(shown); !printed) return fail(printed.error());
  const bool well =
      std::ranges::all_of(*faults, [&](const ReceiverFault& fault) { return mend && fault.why_not.empty(); });
  return well ? 0 : 1;
}

}  // namespace tenure::cli
