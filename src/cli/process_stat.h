// What /proc/PID/stat says of a process.
#pragma once

namespace tenure::cli {

struct ProcessStat {
  int parent = 0;    // 0: none, or it cannot be seen
  char state = '?';  // 'T' is stopped, 'Z' is a zombie
};
ProcessStat stat_of(int pid);

}  // namespace tenure::cli
