// Contended hand-off: processes that want one thing, hold it for a while or not at all, and want it again.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tenure::bench {

inline constexpr std::chrono::seconds kLongest{10};

struct Contention {
  int processes = 2;
  double seconds = 1;
  long grants = 0;                    // goes on until there were so many, but for kLongest at most
  std::chrono::microseconds hold{0};  // asleep, with the thing
  std::chrono::microseconds away{0};  // asleep, without it
};

struct Handoff {
  double seconds = 0;
  long grants = 0;
  // Grants to another process than the one before. The rest are a process that took it again before anybody could.
  long handoffs = 0;
  // Jain's index of the grants of the processes: 1 when all had as many, 1/n when one had them all.
  double jain = 0;
  // The share of the time in which somebody had it.
  double in_use = 0;
  // Of the hand-offs, as far as there is room for them: from just before one gives it back until the other has it.
  std::vector<double> latencies_us;
};

Handoff measure_handoff(const std::string& way, const std::string& folder, const Contention& contention);

}  // namespace tenure::bench
