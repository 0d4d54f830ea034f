// What is measured of the local engine: groups, each of one thing done in several ways. docs/benchmarks.md has them all
// as a table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings.h"
#include "turns.h"

namespace tenure::bench {

struct Group {
  std::string name;
  std::map<std::string, Figures> (*measure)(const Settings& settings);
};

// By itself in one process.
std::vector<Group> uncontended_groups();
// Between processes.
std::vector<Group> contended_groups();
// What it costs a process to take part.
std::vector<Group> footprint_groups();

}  // namespace tenure::bench
