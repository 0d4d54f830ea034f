#include "turns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenure::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr int kLeastTurns = 5;

double time_of(const Candidate& candidate, long times) {
  const auto begun = Clock::now();
  candidate.operation(times);
  return Nanoseconds(Clock::now() - begun).count();
}

// The least of a few: the first does what is done once, and in any of them the machine may do something else.
double least_time_of(const Candidate& candidate, long times) {
  double least = time_of(candidate, times);
  for (int more = 0; more < 3; ++more) least = std::min(least, time_of(candidate, times));
  return least;
}

// How often it is done within a turn.
long calibrate(const Candidate& candidate, double turn_ns) {
  long times = 1;
  while (least_time_of(candidate, times) < turn_ns / 2 && times < (1L << 24)) times *= 2;
  return times;
}

// The smallest sample that at least this share of all does not exceed.
double percentile(const Samples& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::string number(const char* name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "\"%s\": %.9g", name, value);
  return text;
}

std::string summary(Samples samples) {
  std::sort(samples.begin(), samples.end());
  return "{" + number("p50", percentile(samples, 0.5)) + ", " + number("p99", percentile(samples, 0.99)) + ", " +
         number("min", samples.front()) + ", " + number("max", samples.back()) + ", " +
         number("samples", static_cast<double>(samples.size())) + "}";
}

}  // namespace

std::map<std::string, Figures> take_turns(const std::vector<Candidate>& candidates, int turns,
                                          std::chrono::microseconds turn, std::chrono::milliseconds most) {
  std::vector<long> times;
  for (const Candidate& each : candidates) times.push_back(calibrate(each, Nanoseconds(turn).count()));
  std::vector<double> spent(candidates.size(), 0);
  std::map<std::string, Figures> found;
  for (int index = 0; index < turns; ++index) {
    for (std::size_t each = 0; each < candidates.size(); ++each) {
      if (index >= kLeastTurns && spent[each] > Nanoseconds(most).count()) continue;
      const double took = time_of(candidates[each], times[each]);
      spent[each] += took;
      found[candidates[each].way]["ns"].push_back(took / static_cast<double>(times[each]));
    }
  }
  return found;
}

std::string to_json(const std::map<std::string, Figures>& found) {
  std::string text = "{";
  for (const auto& [way, figures] : found) {
    if (text.size() > 1) text += ", ";
    text += "\"" + way + "\": {";
    std::string inner;
    for (const auto& [figure, samples] : figures) {
      if (samples.empty()) continue;
      if (!inner.empty()) inner += ", ";
      inner += "\"" + figure + "\": " + summary(samples);
    }
    text += inner + "}";
  }
  return text + "}";
}

}  // namespace tenure::bench
