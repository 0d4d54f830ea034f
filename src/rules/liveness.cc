// The verdict on a process that was recorded with its full identity.
#include "rules/liveness.h"

#include <string>

namespace tenure::rules {
namespace {

std::string pid_words(const ProcessIdentity& recorded) {
  return "pid " + std::to_string(recorded.pid);
}

Verdict unknown(std::string evidence) {
  return {Liveness::unknown, std::move(evidence)};
}
Verdict dead(std::string evidence) {
  return {Liveness::dead, std::move(evidence)};
}
Verdict live(std::string evidence) {
  return {Liveness::live, std::move(evidence)};
}

// A process id means something only in the boot and the namespaces in which it was recorded. Everything that can be
// said without looking at a pid is said here; nullopt: it is the same ground, look at the pid.
std::optional<Verdict> judge_ground(const ProcessIdentity& recorded, const ProcessIdentity& self) {
  if (recorded.pid <= 0) return unknown("the record names no process");
  if (recorded.boot_id.empty() || self.boot_id.empty()) return unknown("it is not known in which boot it was recorded");
  if (recorded.boot_id != self.boot_id) {
    const bool known = !recorded.machine_id.empty() && !self.machine_id.empty();
    if (known && recorded.machine_id == self.machine_id) return dead("the machine was rebooted since");
    return unknown(known ? "it was recorded on another machine" : "it was recorded in another boot, perhaps elsewhere");
  }
  if (recorded.pid_namespace == 0 || recorded.pid_namespace != self.pid_namespace) {
    return unknown(pid_words(recorded) + " was recorded in another pid namespace");
  }
  if (recorded.time_namespace == 0 || recorded.time_namespace != self.time_namespace) {
    return unknown(pid_words(recorded) + " was recorded in another time namespace");
  }
  return std::nullopt;
}

// Why its start cannot be compared, where it cannot.
std::optional<std::string> start_unseen(const ProcessIdentity& recorded, const ProcessSight& sight,
                                        const Standpoint& self) {
  const std::string pid = pid_words(recorded);
  const std::string there = sight.existence == ProcessSight::Existence::exists ? pid + " exists, but " : pid + ": ";
  if (!self.proc_usable) return there + "/proc shows not even ourselves";
  switch (sight.stat) {
    case ProcessSight::Stat::absent:
      return there + "/proc does not show it (hidepid?)";
    case ProcessSight::Stat::denied:
      return there + "/proc does not let us look at it";
    case ProcessSight::Stat::unusable:
      return there + "its line in /proc cannot be read";
    case ProcessSight::Stat::read:
      break;
  }
  if (recorded.start_ticks == 0) return there + "the record does not say when it started";
  if (sight.start_ticks == 0) return there + "/proc does not say when it started";
  return std::nullopt;
}

// The very process is there. Its group may be over all the same: only the leader's line is left of it then.
Verdict judge_state(const std::string& pid, const ProcessSight& sight) {
  switch (sight.state) {
    case 'Z':
    case 'X':
    case 'x':
      if (!sight.threads_counted) return unknown(pid + " is a zombie, and its threads cannot be counted");
      if (sight.other_threads == 0) return dead(pid + " is a zombie without another thread");
      return live(pid + " runs on in " + std::to_string(sight.other_threads) + " threads after its main thread ended");
    case 'T':
      return live(pid + " is stopped, which is alive");
    case 't':
      return live(pid + " is stopped by a debugger, which is alive");
    default:
      return live(pid + " runs");
  }
}

}  // namespace

Verdict judge_process(const ProcessIdentity& recorded, const ProcessSight& sight, const Standpoint& self) {
  if (auto verdict = judge_ground(recorded, self.identity)) return *verdict;
  const std::string pid = pid_words(recorded);
  // The kernel says so itself, /proc or not.
  if (sight.existence == ProcessSight::Existence::absent) return dead(pid + " is gone");
  if (auto reason = start_unseen(recorded, sight, self)) return unknown(*reason);
  if (sight.start_ticks != recorded.start_ticks) return dead(pid + " is gone, another process has its number");
  return judge_state(pid, sight);
}

bool same_process(const ProcessIdentity& recorded, const ProcessIdentity& self) {
  const bool known =
      recorded.pid > 0 && recorded.start_ticks != 0 && !recorded.boot_id.empty() && recorded.pid_namespace != 0;
  // A kernel without time namespaces shows none to either side: equal then too. The user id may change in a process's
  // life and a machine id can be edited: neither is asked.
  return known && recorded.pid == self.pid && recorded.start_ticks == self.start_ticks &&
         recorded.boot_id == self.boot_id && recorded.pid_namespace == self.pid_namespace &&
         recorded.time_namespace == self.time_namespace;
}

}  // namespace tenure::rules
