// revoke --dead: takes away what the dead hold, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "tenure/space.h"

namespace tenure::cli {

struct Clearance {
  std::vector<Observation> cleared;  // as each stood
  std::size_t left = 0;              // held by others, or changed hands meanwhile
  std::vector<std::pair<Key, Error>> failed;
};

// The dead hold it, by the verdict of the observation.
bool held_by_dead(const Observation& seen);

// Of what was seen, that which the dead hold. Each is pinned to the epoch that was
// seen and taken without force, so that whoever has come meanwhile is left alone.
Clearance clear_dead(const Space& space, const std::vector<Observation>& seen, const std::string& reason);

}  // namespace tenure::cli
