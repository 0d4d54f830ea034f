// Waiting for a flock(2) with a bound and a stop, and saying who is inside when it does not come.
#pragma once

#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <string>

#include "tenure/error.h"
#include "tenure/stop.h"
#include "tenure/time.h"

namespace tenure::os {

class SectionWait {
 public:
  SectionWait(Duration at_most, const Stop* stop);

  enum class End { taken, late, stopped };
  // flock(`kind`) tried until it succeeds, the bound passes, or the stop is requested; at least once. `place` is for
  // messages.
  Result<End> take(int descriptor, const std::string& place, int kind = LOCK_EX);

  // The refusal for an `end` other than taken: names the process inside and whether it is stopped, where /proc tells.
  std::unexpected<Error> refuse(End end, const struct stat& file, const std::string& place) const;

 private:
  void pause(int attempt, Duration& delay, Duration left) const;

  Duration at_most_;
  const Stop* stop_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tenure::os
