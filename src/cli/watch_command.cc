#include <limits>

#include "base/text.h"
#include "cli/ask_view.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/observation_view.h"
#include "cli/opening.h"
#include "cli/output.h"
#include "cli/sentinel.h"

namespace tenure::cli {
namespace {

std::string line_of(const Observation& seen, const Viewpoint& from, bool json) {
  if (json) {
    boost::json::object line{{"at", iso8601(from.now)}};
    for (auto& [name, value] : to_json(seen, from)) line[name] = value;
    return boost::json::serialize(line) + "\n";
  }
  std::string out = iso8601(from.now) + " " + seen.key.text() + " ";
  if (!seen.epoch.none()) out += "epoch " + seen.epoch.text() + " ";
  out += one_line(seen, from);
  if (seen.holder && !seen.holder->reason.empty()) out += ": " + escape_controls(seen.holder->reason);
  for (const Ask& ask : seen.asks) out += "; asked by " + in_words(ask, from);
  if (seen.offer) out += "; offered to " + in_words(*seen.offer);
  return out + "\n";
}

// Counts and prints until there is no more to say, or nobody to say it to.
class Reporter {
 public:
  Reporter(const Space& space, std::uint64_t count, bool json) : space_(space), left_(count), json_(json) {}

  bool report(const Observation& seen) {
    printed_ = print(line_of(seen, viewpoint_of(space_), json_));
    return printed_ && --left_ > 0;
  }
  const Result<void>& printed() const { return printed_; }

 private:
  const Space& space_;
  std::uint64_t left_;
  bool json_;
  Result<void> printed_;
};

}  // namespace

Result<int> watch_command(const Arguments& arguments) {
  auto duration = duration_of(arguments.duration, "--for");
  if (!duration) return fail(duration.error());
  Result<std::uint64_t> count = std::numeric_limits<std::uint64_t>::max();
  if (arguments.count) count = number_of(*arguments.count, 1'000'000'000, "--count");
  if (!count) return fail(count.error());
  if (*count == 0) return 0;
  auto space = open_to_look(arguments);
  if (!space) return fail(space.error());
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  auto sentinel = Sentinel::post(*stop, {}, [](std::size_t) { return false; }, *duration);
  if (!sentinel) return fail(sentinel.error());
  Reporter reporter(*space, *count, arguments.json);
  auto watched = space->watch(arguments.prefix.value_or(""), *stop,
                              [&reporter](const Observation& seen) { return reporter.report(seen); });
  if (!watched) return fail(watched.error());
  if (!reporter.printed()) return fail(reporter.printed().error());
  return 0;
}

}  // namespace tenure::cli
