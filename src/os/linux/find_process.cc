#include "os/linux/find_process.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "os/linux/proc_files.h"
#include "os/linux/real_processes.h"

namespace tenure::os {
namespace {

using Seen = ProcessSight::Stat;

// PROC_PID_INIT_INO and PROC_USER_INIT_INO of the kernel's proc_ns.h.
constexpr std::uint64_t kInitialPidNamespace = 0xEFFF'FFFC;
constexpr std::uint64_t kInitialUserNamespace = 0xEFFF'FFFD;
// No kernel gives out more numbers than four million, and no machine that tenure is for fills them.
constexpr std::size_t kMostProcesses = 1'000'000;

class Search {
 public:
  Search(const Standpoint& self, std::int32_t pid, std::uint64_t start_ticks, const std::string& root)
      : self_(self), pid_(pid), start_ticks_(start_ticks), root_(root) {}

  Anywhere run() const {
    if (!self_.proc_usable || pid_ <= 0) return Anywhere::unseen;
    // Most often it lives in our own namespace, under that very number.
    if (look_at(pid_) == Sight::the_one) return Anywhere::found;
    const auto listed = numbers_in(root_, kMostProcesses);
    bool all_seen = listed && nobody_is_hidden();
    if (!listed) return Anywhere::unseen;
    for (const std::int32_t number : *listed) {
      const Sight sight = look_at(number);
      if (sight == Sight::the_one) return Anywhere::found;
      if (sight == Sight::unclear) all_seen = false;
    }
    return all_seen ? Anywhere::nowhere : Anywhere::unseen;
  }

 private:
  enum class Sight : std::uint8_t { the_one, another, unclear };

  std::string path(std::int32_t number, const char* file) const {
    return root_ + "/" + std::to_string(number) + "/" + file;
  }

  // `number` is the one by which this /proc calls it.
  Sight look_at(std::int32_t number) const {
    const ProcFile status = read_twice(path(number, "status"));
    if (status.status == Seen::absent) return Sight::another;
    if (status.status != Seen::read) return Sight::unclear;
    const auto own_number = last_status_number(status.bytes, "NSpid:");
    if (!own_number) return Sight::unclear;
    if (*own_number != static_cast<std::uint64_t>(pid_)) return Sight::another;
    return compare_start(number);
  }

  Sight compare_start(std::int32_t number) const {
    const ProcFile file = read_twice(path(number, "stat"));
    if (file.status == Seen::absent) return Sight::another;
    const auto stat = file.status == Seen::read ? parse_proc_stat(file.bytes) : std::nullopt;
    if (!stat) return Sight::unclear;
    const bool ended = stat->state == 'Z' || stat->state == 'X' || stat->state == 'x';
    if (ended && stat->threads <= 1) return Sight::another;
    if (stat->start_ticks == start_ticks_) return Sight::the_one;
    return tells_time_as_we_do(number) ? Sight::another : Sight::unclear;
  }

  // The kernel shifts the start that a reader is shown by the reader's time namespace.
  bool tells_time_as_we_do(std::int32_t number) const {
    // Where we have none, the kernel knows none.
    if (self_.identity.time_namespace == 0) return true;
    return namespace_inode(path(number, "ns/time")) == self_.identity.time_namespace;
  }

  // A process that calls exec from a thread is hard to reach for a moment: gone is who is not there a second time.
  static ProcFile read_twice(const std::string& path) {
    ProcFile file = read_proc_file(path);
    return file.status == Seen::absent ? read_proc_file(path) : file;
  }

  // With the option hidepid, /proc shows to a user his own processes, and to a member of a certain group, or with
  // CAP_SYS_PTRACE, those of others: who sees process 1, which is root's, sees all. Root sees it in any case, and must
  // have that capability over the whole machine.
  bool nobody_is_hidden() const {
    if (self_.identity.pid_namespace != kInitialPidNamespace) return false;
    if (read_proc_file(path(1, "stat")).status != Seen::read) return false;
    if (geteuid() != 0) return true;
    return namespace_inode("/proc/self/ns/user") == kInitialUserNamespace && may_trace();
  }

  static bool may_trace() {
    const ProcFile status = read_proc_file("/proc/self/status");
    const std::string_view field = "\nCapEff:\t";
    const std::size_t at = status.bytes.find(field);
    if (status.status != Seen::read || at == std::string::npos) return false;
    const char* begin = status.bytes.data() + at + field.size();
    std::uint64_t mask = 0;
    std::from_chars(begin, status.bytes.data() + status.bytes.size(), mask, 16);
    return (mask >> CAP_SYS_PTRACE & 1) != 0;
  }

  const Standpoint& self_;
  std::int32_t pid_;
  std::uint64_t start_ticks_;
  const std::string& root_;
};

}  // namespace

Anywhere find_process(const Standpoint& self, std::int32_t pid, std::uint64_t start_ticks, const std::string& root) {
  return Search(self, pid, start_ticks, root).run();
}

Anywhere RealProcesses::find(std::int32_t pid, std::uint64_t start_ticks) const {
  return find_process(self_, pid, start_ticks);
}

}  // namespace tenure::os
