#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

std::string row(std::string_view key, std::string_view epoch, std::string_view alive, std::string_view owner,
                std::string_view pid, std::string_view since, std::string_view reason) {
  std::string line = cell(key, 22) + " " + cell(epoch, 6) + " " + cell(alive, 7) + " " + cell(owner, 14) + " " +
                     cell(pid, 7) + " " + cell(since, 10) + " ";
  line += shorten(reason, kColumns - width_of(line));
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string row(const Observation& seen, const Viewpoint& from) {
  const std::string alive = seen.state == State::damaged ? word_of(seen.state) : word_of(seen.verdict.liveness);
  if (!seen.holder) return row(seen.key.text(), seen.epoch.text(), alive, "?", "?", "?", escape_controls(seen.why));
  const Holder& holder = *seen.holder;
  const ProcessIdentity& process = holder.owner_process ? *holder.owner_process : holder.process;
  return row(seen.key.text(), seen.epoch.text(), alive, escape_controls(holder.owner), std::to_string(process.pid),
             from.now >= holder.since ? words(from.now - holder.since) : "?", escape_controls(holder.reason));
}

std::string as_text(const std::vector<Observation>& all, const Viewpoint& from) {
  std::string out = "in " + escape_controls(from.location) + ":\n";
  if (all.empty()) return out + "nothing is held\n";
  out += row("KEY", "EPOCH", "ALIVE", "OWNER", "PID", "HELD FOR", "REASON");
  for (const Observation& each : all) out += row(each, from);
  return out;
}

std::string as_json(const std::vector<Observation>& all, const Viewpoint& from) {
  boost::json::array leases;
  for (const Observation& each : all) leases.push_back(to_json(each, from));
  return boost::json::serialize(
             boost::json::object{{"space", from.url}, {"location", from.location}, {"leases", std::move(leases)}}) +
         "\n";
}

}  // namespace

Result<int> ls_command(const Arguments& arguments) {
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  auto all = space->list(arguments.prefix.value_or(""));
  if (!all) return fail(all.error());
  const Viewpoint from = viewpoint_of(*space);
  if (auto printed = print(arguments.json ? as_json(*all, from) : as_text(*all, from)); !printed) {
    return fail(printed.error());
  }
  return 0;
}

}  // namespace tenure::cli
