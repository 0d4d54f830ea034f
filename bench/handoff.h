// Contended hand-off: processes that want one thing, hold it for no time, and want it again at once.
#pragma once

#include <string>

namespace tenure::bench {

struct Handoff {
  double seconds = 0;
  long grants = 0;
  // Grants to another process than the one before. The rest are a process that took it again before anybody could.
  long handoffs = 0;
  // Jain's index of the grants of the processes: 1 when all had as many, 1/n when one had them all.
  double jain = 0;
};

Handoff measure_handoff(const std::string& way, const std::string& folder, int processes, double seconds);

}  // namespace tenure::bench
