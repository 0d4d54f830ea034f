// Turns: several ways of doing a thing, measured in short turns one after the other, so that whatever else the machine
// does meanwhile meets all of them alike.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tenure::bench {

// The samples of one figure, and of all figures of one way.
using Samples = std::vector<double>;
using Figures = std::map<std::string, Samples>;

struct Candidate {
  std::string way;
  // Does it that often. Only the calls of it are timed.
  std::function<void(long)> operation;
};

// The nanoseconds of one operation: a sample a turn. A turn lasts about `turn`; a way whose turns took `most` all
// together sits out the rest, after five at least.
std::map<std::string, Figures> take_turns(const std::vector<Candidate>& candidates, int turns,
                                          std::chrono::microseconds turn = std::chrono::microseconds(500),
                                          std::chrono::milliseconds most = std::chrono::milliseconds(600));

// One line of JSON: {"way": {"figure": {"p50": …, "p99": …, "min": …, "max": …, "samples": …}}}.
std::string to_json(const std::map<std::string, Figures>& found);

}  // namespace tenure::bench
