// What can be seen of a process and of a lease's life lock: values that ports gather and rules judge.
#pragma once

#include <cstdint>
#include <string>

#include "tenure/holder.h"

namespace tenure {

// What the system shows of one process id, seen from here and now. Every field says only what was seen.
struct ProcessSight {
  // From pidfd_open or kill(pid, 0): it depends neither on /proc nor on hidepid. EPERM means `exists`.
  enum class Existence : std::uint8_t { exists, absent, cannot_tell };
  // Reading /proc/PID/stat. With hidepid a living process can be `absent` here.
  enum class Stat : std::uint8_t { read, absent, denied, unusable };

  Existence existence = Existence::cannot_tell;
  Stat stat = Stat::unusable;
  std::uint64_t start_ticks = 0;    // when stat was read
  char state = '?';                 // the thread group leader's state letter: 'Z' is a zombie, 'X' dead, 'T' stopped
  bool threads_counted = false;     // /proc/PID/task could be listed
  std::uint32_t other_threads = 0;  // threads of the group besides the leader that are themselves neither Z nor X
  std::uint64_t start_wall_seconds = 0;  // boot time of /proc/stat + ticks: for judging foreign records only

  friend bool operator==(const ProcessSight&, const ProcessSight&) = default;
};

// Where we stand. A record's fields are compared with these before any sight of a pid means anything.
struct Standpoint {
  ProcessIdentity identity;
  std::string host;       // host name, trimmed, lower case
  std::string host_name;  // the same as the system has it, for records of programs that compare it so
  std::string user_name;  // of the effective user, from the password database
  std::string command;    // own command line, NUL shown as blank, cut to 512 bytes
  std::string directory;  // working directory, or empty
  // /proc/self exists and names our own pid: only then is what /proc shows of others evidence.
  bool proc_usable = false;
};

// Whether a process of which only its own number and its start are known runs under this kernel, in whatever namespace.
enum class Anywhere : std::uint8_t {
  found,    // it was seen, and it is not a mere zombie
  nowhere,  // every process of this kernel was seen, and none of them is it
  unseen,   // it was not seen, but not everything could be
};

enum class LifeSight : std::uint8_t {
  held,        // somebody holds the lock on the very file that was asked for
  free,        // nobody does
  other_file,  // another file lies under the name now
  absent,      // no file under the name
  unreadable,  // cannot be opened or asked
};

// Names one file as long as somebody has it open.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

}  // namespace tenure
