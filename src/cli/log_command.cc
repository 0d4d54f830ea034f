// log: what happened to the keys of a space.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/layout.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/sentinel.h"
#include "compose/real_environment.h"
#include "engine/engine.h"

namespace tenure::cli {
namespace {

constexpr Duration kLookAnyway = std::chrono::seconds(2);
constexpr std::size_t kTime = 15, kKind = 11, kKey = 16, kEpoch = 16, kPid = 7;

// "handed_over"
std::string name_of(EventKind kind) {
  std::string name(word_of(kind));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string line_of(std::string_view time, std::string_view kind, std::string_view key, std::string_view epoch,
                    std::string_view pid, std::string_view owner) {
  std::string line = cell(time, kTime) + " " + cell(kind, kKind) + " " + cell(key, kKey) + " " + cell(epoch, kEpoch) +
                     " " + cell(pid, kPid) + " ";
  line += shorten(owner, kColumns - std::min(kColumns, width_of(line)));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string as_text(const Event& event) {
  const std::string why = escape_controls(event.why);
  std::string line =
      line_of(compose::local_time(event.at), word_of(event.kind), escape_controls(event.key),
              event.epoch.none() ? "" : event.epoch.text(), std::to_string(event.pid), escape_controls(event.owner));
  if (why.empty()) return line + "\n";
  if (width_of(line) + 2 + width_of(why) <= kColumns) return line + ": " + why + "\n";
  return line + "\n" + hanging(std::string(kTime + 1, ' '), why);
}

std::string as_json(const Event& event) {
  return boost::json::serialize(boost::json::object{{"number", event.number},
                                                    {"at", iso8601(event.at)},
                                                    {"event", name_of(event.kind)},
                                                    {"key", event.key},
                                                    {"epoch", event.epoch.value()},
                                                    {"pid", event.pid},
                                                    {"owner", event.owner},
                                                    {"why", event.why}}) +
         "\n";
}

// Prints what was not printed yet.
class Printer {
 public:
  Printer(const Space& space, std::string key, bool json) : space_(space), key_(std::move(key)), json_(json) {}

  // The number of events.
  Result<std::size_t> news() {
    auto events = space_.log(key_);
    if (!events) return fail(events.error());
    // A table that was made anew begins to count anew.
    if (!events->empty() && events->back().number < next_) next_ = 0;
    std::string out;
    std::size_t count = 0;
    for (const Event& event : *events) {
      if (event.number < next_) continue;
      out += json_ ? as_json(event) : as_text(event);
      ++count;
    }
    if (!events->empty()) next_ = std::max(next_, events->back().number + 1);
    if (auto printed = print(out); !printed) return fail(printed.error());
    return count;
  }

 private:
  const Space& space_;
  const std::string key_;
  const bool json_;
  std::uint64_t next_ = 0;
};

Result<int> follow(Printer& printer, Changes& changes) {
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  auto sentinel = Sentinel::post(*stop, {}, [](std::size_t) { return false; }, std::nullopt);
  if (!sentinel) return fail(sentinel.error());
  while (!stop->requested()) {
    if (auto seen = changes.wait(kLookAnyway, &*stop); !seen) return fail(seen.error());
    if (auto printed = printer.news(); !printed) return fail(printed.error());
  }
  return 0;
}

}  // namespace

Result<int> log_command(const Arguments& arguments) {
  std::string text;
  if (arguments.key) {
    auto key = key_of(arguments);
    if (!key) return fail(key.error());
    text = key->text();
  }
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  Printer printer(*space, text, arguments.json);
  // Watched first, so that nothing that happens between the two is missed.
  std::unique_ptr<Changes> changes;
  if (arguments.follow && space->traits().log) {
    auto watched = space->engine().changes();
    if (!watched) return fail(watched.error());
    changes = std::move(*watched);
  }
  if (!arguments.json && space->traits().log) {
    const std::string head = hanging("", "in " + escape_controls(space->location()) + ":") +
                             line_of("TIME", "EVENT", "KEY", "EPOCH", "PID", "OWNER: WHY") + "\n";
    if (auto printed = print(head); !printed) return fail(printed.error());
  }
  auto printed = printer.news();
  if (!printed) return fail(printed.error());
  if (changes) return follow(printer, *changes);
  if (*printed == 0 && !arguments.json) {
    if (auto told = print("nothing is recorded\n"); !told) return fail(told.error());
  }
  return 0;
}

}  // namespace tenure::cli
