// Measures one group of the local engine and its peers: local_bench --folder=DIR [--program=FILE …] GROUP. Prints one
// line of JSON (turns.h). Without a group: the names of all. bench/compare runs the groups in rounds and judges.
#include <cstdio>
#include <cstring>

#include "local_groups.h"
#include "must.h"

int main(int count, char** arguments) {
  using namespace tenure::bench;
  const Settings settings = take_settings(&count, arguments);
  std::vector<Group> groups;
  for (const auto& some : {uncontended_groups(), contended_groups(), footprint_groups()}) {
    groups.insert(groups.end(), some.begin(), some.end());
  }
  for (const Group& group : groups) {
    if (count == 1) {
      std::printf("%s\n", group.name.c_str());
    } else if (count == 2 && group.name == arguments[1]) {
      std::printf("%s\n", to_json(group.measure(settings)).c_str());
      return 0;
    }
  }
  if (count == 1) return 0;
  stop_here("no group is called " + std::string(arguments[1]));
}
