// Probe: one promise of the system, tried, with the evidence and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::os {

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

// For probes that are written as: what is promised first, what was found by and by.
class ProbeOf {
 public:
  ProbeOf(std::string name, std::string promise) : name_(std::move(name)), promise_(std::move(promise)) {}

  Probe good(std::string evidence) const { return {name_, Probe::Finding::good, promise_, std::move(evidence), {}}; }
  Probe limited(std::string evidence, std::string remedy) const {
    return {name_, Probe::Finding::limited, promise_, std::move(evidence), std::move(remedy)};
  }
  Probe bad(std::string evidence, std::string remedy) const {
    return {name_, Probe::Finding::bad, promise_, std::move(evidence), std::move(remedy)};
  }

 private:
  std::string name_;
  std::string promise_;
};

}  // namespace tenure::os
