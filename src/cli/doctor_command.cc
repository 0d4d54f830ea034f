// doctor: what this machine promises, tried.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "compose/probes.h"

namespace tenure::cli {
namespace {

using compose::Probe;

std::string as_text(const std::vector<Probe>& probes, const std::string& url) {
  std::string out = "for the space " + escape_controls(url) + ":\n";
  for (const Probe& each : probes) {
    const std::string mark = cell(compose::word_of(each.finding), 8);
    out += hanging(mark, escape_controls(each.promise));
    out += hanging("        ", escape_controls(each.name + ": " + each.evidence));
    // Never broken: it is there to be copied.
    if (!each.remedy.empty()) out += "        next: " + escape_controls(each.remedy) + "\n";
  }
  return out;
}

std::string as_json(const std::vector<Probe>& probes, const std::string& url, bool well) {
  boost::json::array found;
  for (const Probe& each : probes) {
    found.push_back(boost::json::object{{"name", each.name},
                                        {"finding", compose::word_of(each.finding)},
                                        {"promise", each.promise},
                                        {"evidence", each.evidence},
                                        {"remedy", each.remedy}});
  }
  return boost::json::serialize(boost::json::object{{"space", url}, {"well", well}, {"probes", std::move(found)}}) +
         "\n";
}

}  // namespace

Result<int> doctor_command(const Arguments& arguments) {
  const std::string url = chosen_url(arguments);
  const std::vector<Probe> probes = compose::probe_all(url);
  const bool well =
      std::none_of(probes.begin(), probes.end(), [](const Probe& each) { return each.finding == Probe::Finding::bad; });
  if (auto printed = print(arguments.json ? as_json(probes, url, well) : as_text(probes, url)); !printed) {
    return fail(printed.error());
  }
  return well ? 0 : 1;
}

}  // namespace tenure::cli
