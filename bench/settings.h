// What every program of this folder is told on its command line.
#pragma once

#include <cstddef>
#include <string>

namespace tenure::bench {

struct Settings {
  std::string folder;            // where the leases and the peers' files lie: on the file system that is measured
  std::string program;           // the tenure program; empty: cases of whole processes are left out
  double handoff_seconds = 3.0;  // how long the processes of one hand-off measurement contend
  int handoff_turns = 1;         // how often each way has its turn with it
  int takeovers = 100;           // deaths of a holder in one takeover measurement
  int turns = 200;               // of each way in a measurement of something short
  int process_turns = 40;        // runs of each program
  bool brief = false;            // only to see that it works: a few of everything

  std::size_t keys(std::size_t many) const { return brief ? many / 1000 : many; }
};

// Takes --name=value of ours out of the arguments and leaves the others. Without --folder the program ends with a usage
// line.
Settings take_settings(int* count, char** arguments);

}  // namespace tenure::bench
