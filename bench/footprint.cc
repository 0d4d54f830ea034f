// What it costs a process to take part in a local: space: time to open it, memory, and the whole of `tenure run`.
#include <chrono>
#include <fstream>

#include "local_groups.h"
#include "must.h"
#include "ours.h"
#include "whole_process.h"

namespace tenure::bench {
namespace {

using Found = std::map<std::string, Figures>;
using Clock = std::chrono::steady_clock;

double resident_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string name;
  while (file >> name) {
    double value = 0;
    if (name == "Rss:" && file >> value) return value;
  }
  stop_here("cannot read the resident memory");
}

double us_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
}

// Once, in a process that has done nothing before. A space that is there already, as it nearly always is.
Found opening(const Settings& settings) {
  const double before = resident_kib();
  const auto begun = Clock::now();
  const Space space = must(Space::open(Ours::local(settings.folder)), "open");
  const double opened = us_since(begun);
  const Key key = must(Key::parse("footprint"), "key");
  const auto claiming = Clock::now();
  const Lease lease = must(space.claim(key), "claim");
  const double claimed = us_since(claiming);
  Found found;
  found["local"]["resident_kib"] = {resident_kib() - before};
  found["local"]["open_us"] = {opened};
  found["local"]["first_claim_us"] = {claimed};
  return found;
}

Found whole_process(const Settings& settings) {
  const std::string& folder = settings.folder;
  const std::vector<std::pair<std::string, std::vector<std::string>>> programs = {
      {"local", {settings.program, "run", "k", "--space", Ours::local(folder), "--wait", "0", "--", "true"}},
      {"flock", {"flock", folder + "/program.lock", "true"}},
      {"true", {"true"}}};
  Found found;
  for (int turn = 0; turn < settings.process_turns; ++turn) {
    for (const auto& [name, words] : programs) {
      const auto begun = Clock::now();
      run_program(words);
      found[name]["us"].push_back(us_since(begun));
    }
  }
  return found;
}

}  // namespace

std::vector<Group> footprint_groups() {
  return {{"opening", opening}, {"process", whole_process}};
}

}  // namespace tenure::bench
