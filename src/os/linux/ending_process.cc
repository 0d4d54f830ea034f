// RealProcesses::ending: a process that is past the point of no return, seen in /proc while the kernel still frees its
// memory.
#include <algorithm>

#include "os/linux/proc_files.h"
#include "os/linux/real_processes.h"

namespace tenure::os {
namespace {

// PF_EXITING of the kernel's sched.h, field 9 of /proc/PID/stat (proc(5) tells of the field). A thread never loses it.
constexpr std::uint32_t kExiting = 0x4;

std::optional<ProcStat> stat_of(const std::string& folder) {
  const ProcFile file = read_proc_file(folder + "/stat");
  return file.status == ProcessSight::Stat::read ? parse_proc_stat(file.bytes) : std::nullopt;
}

bool is_exiting(const std::string& folder) {
  const auto stat = stat_of(folder);
  return stat && (stat->flags & kExiting) != 0;
}

// The count that the kernel keeps of the threads, of the process that was meant and no other.
std::optional<std::uint32_t> threads_of(const std::string& process, std::uint64_t start_ticks) {
  const auto stat = stat_of(process);
  if (!stat || stat->start_ticks != start_ticks || (stat->flags & kExiting) == 0) return std::nullopt;
  return stat->threads;
}

// The ids of all threads, if all of them are exiting; none otherwise. A listing is not a snapshot: a thread that starts
// another and ends may leave it unseen. That this did not happen shows only in a second look.
std::vector<std::int32_t> exiting_threads(std::int32_t pid, std::uint64_t start_ticks) {
  const std::string process = "/proc/" + std::to_string(pid);
  const auto before = threads_of(process, start_ticks);
  if (!before) return {};
  auto ids = thread_ids(pid);
  if (!ids || ids->size() != *before || std::ranges::find(*ids, pid) == ids->end()) return {};
  const auto exiting = [&](std::int32_t id) { return is_exiting(process + "/task/" + std::to_string(id)); };
  if (!std::ranges::all_of(*ids, exiting) || threads_of(process, start_ticks) != before) return {};
  return std::move(*ids);
}

}  // namespace

// The second look must list the very same threads. Then all of them were there when the first look counted at its end,
// and as many as it had listed: so there were no others, and those were past the point where a thread starts another.
bool RealProcesses::ending(std::int32_t pid, std::uint64_t start_ticks) const {
  if (!sees(pid)) return false;
  const auto threads = exiting_threads(pid, start_ticks);
  return !threads.empty() && exiting_threads(pid, start_ticks) == threads;
}

}  // namespace tenure::os
