// Reading the small files of /proc, and what stands in them. It says what was seen; it judges nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "model/evidence.h"

namespace tenure::os {

struct ProcFile {
  ProcessSight::Stat status = ProcessSight::Stat::unusable;
  std::string bytes;  // when `read`
};

// The whole of a file below /proc, at most `max_bytes` of it. `absent`: no such file, or its process went away
// while it was read. `denied`: no permission. `unusable`: everything else.
ProcFile read_proc_file(const std::string& path, std::size_t max_bytes = limits::kProcFileBytes);

// Where a link below /proc leads; empty where it cannot be read.
std::string read_proc_link(const std::string& path);

// The inode behind a path such as /proc/self/ns/pid, which names a namespace; 0 where it cannot be asked.
std::uint64_t namespace_inode(const std::string& path);

// True when /proc is procfs and not a folder that somebody put in its place.
bool proc_is_procfs();

// The fields of /proc/PID/stat that we use. See proc(5).
struct ProcStat {
  std::int32_t pid = 0;
  std::string command;  // may contain blanks and ')'
  char state = '?';
  std::uint32_t flags = 0;  // PF_* of the kernel
  std::uint32_t threads = 0;
  std::uint64_t start_ticks = 0;
};
std::optional<ProcStat> parse_proc_stat(std::string_view text);

// The first number after `field` (such as "Uid:") in /proc/PID/status that stands at place `index`, counted from 0.
std::optional<std::uint64_t> status_number(std::string_view status, std::string_view field, int index);

// The number after "btime" in /proc/stat: the boot, in seconds since 1970, by today's wall clock. 0 when it is not
// there.
std::uint64_t parse_boot_seconds(std::string_view proc_stat);

// One FLOCK line of /proc/locks that is held (not waited for), on the file with this identity.
std::optional<std::int32_t> flock_holder(std::string_view proc_locks, FileIdentity file);

// NUL bytes become blanks, trailing ones go, control characters are spelled out, at most `max_bytes`.
std::string shown_command(std::string_view cmdline, std::size_t max_bytes);

// The last number after `field`, on a line that has nothing but numbers: of "NSpid:", that of the process for itself.
std::optional<std::uint64_t> last_status_number(std::string_view status, std::string_view field);

// The ids of the threads of a process; nullopt when they cannot be listed.
std::optional<std::vector<std::int32_t>> thread_ids(std::int32_t pid);

// The names in a folder that are numbers, at most `most` of them: the processes in /proc. nullopt: not all could be
// listed, or there are more.
std::optional<std::vector<std::int32_t>> numbers_in(const std::string& folder, std::size_t most);

}  // namespace tenure::os
