// Probes: what `tenure doctor` finds out about this machine. Each one really tries the thing, where the space lies, in
// a folder of its own that is removed again; nothing stays behind. No probe hangs, and a probe that fails is a finding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/error.h"

namespace tenure::compose {

struct Probe {
  enum class Finding : std::uint8_t {
    good,     // the promise holds here
    limited,  // it holds in part, or cannot be judged; the evidence says which
    bad,      // it does not hold
  };
  std::string name;  // a stable word for --json: "file system", "flock"
  Finding finding = Finding::good;
  std::string promise;   // what tenure builds on: "two processes cannot be inside one section"
  std::string evidence;  // what was seen
  std::string remedy;    // what to do about it; empty when good
};

// "good", "limited", "bad".
std::string_view word_of(Probe::Finding finding);

// All probes, in the order in which they are to be read: the place of the space, its file system, processes, kernel,
// clocks, limits, others in the folder. Takes a few seconds at most. An URL that is none, or names a folder that is not
// there, is a finding too: then what depends on the folder is left out. An empty URL is the default space.
std::vector<Probe> probe_all(const std::string& space_url);

}  // namespace tenure::compose
