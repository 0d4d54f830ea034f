#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kColumnCount = 7;
using Row = std::array<std::string, kColumnCount>;
// The widest that a column gets; the last one takes what is left. Epochs and pids are never cut.
constexpr std::array<std::size_t, kColumnCount - 1> kWidest = {30, 16, 7, 16, 10, 12};

// Who waits, and why it is held.
std::string remarks_on(const Observation& seen) {
  const std::string reason = seen.holder ? seen.holder->reason : seen.why;
  const std::string who = words_of_holders(seen);
  std::string all;
  for (const std::string& each : {who, seen.note, reason}) {
    if (!each.empty()) all += (all.empty() ? "" : "; ") + each;
  }
  return escape_controls(all);
}

Row row_of(const Observation& seen, const Viewpoint& from) {
  const std::string alive = seen.state == State::damaged ? word_of(seen.state) : word_of(seen.verdict.liveness);
  if (!seen.holder) return {seen.key.text(), seen.epoch.text(), alive, "?", "?", "?", remarks_on(seen)};
  const Holder& holder = *seen.holder;
  const ProcessIdentity& process = holder.owner_process ? *holder.owner_process : holder.process;
  return {seen.key.text(),
          seen.epoch.text(),
          alive,
          escape_controls(holder.owner),
          std::to_string(process.pid),
          from.now >= holder.since ? words(from.now - holder.since) : "?",
          remarks_on(seen)};
}

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumnCount - 1> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::min(std::max(widths[i], width_of(row[i])), kWidest[i]);
    }
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += cell(row[i], widths[i]) + " ";
    const std::size_t used = width_of(line);
    line += shorten(row.back(), used < kColumns ? kColumns - used : 0);
    line = shorten(line, kColumns);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string as_text(const std::vector<Observation>& all, const Viewpoint& from) {
  std::string out = hanging("", "in " + escape_controls(from.location) + ":");
  if (all.empty()) return out + "nothing is held\n";
  std::vector<Row> rows = {{"KEY", "EPOCH", "ALIVE", "OWNER", "PID", "HELD FOR", "REASON"}};
  for (const Observation& each : all) rows.push_back(row_of(each, from));
  return out + table(rows);
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
