// Verdicts on the holders of AgentMux's records, which name a pid, a host name and a start in wall seconds, and neither
// a boot nor a namespace.
#include <limits>
#include <string>

#include "rules/liveness.h"

namespace tenure::rules {
namespace {

// Wall starts are a sum of two roundings, and the boot time shown by /proc moves with small clock corrections.
constexpr std::uint64_t kStartSlackSeconds = 2;

bool is_pid(std::int64_t pid) {
  return pid > 0 && pid <= std::numeric_limits<std::int32_t>::max();
}

bool same_start(std::uint64_t a, std::uint64_t b) {
  return (a > b ? a - b : b - a) <= kStartSlackSeconds;
}

bool start_seen(const ProcessSight& sight, const Standpoint& self) {
  return self.proc_usable && sight.stat == ProcessSight::Stat::read && sight.start_wall_seconds != 0;
}

// A zombie's number is taken, yet nothing may run behind it.
bool runs(const ProcessSight& sight) {
  const bool leader_over = sight.state == 'Z' || sight.state == 'X' || sight.state == 'x';
  return !leader_over || (sight.threads_counted && sight.other_threads > 0);
}

std::string host_words(std::string_view host) {
  return host.empty() ? std::string("the record names no host") : "it was recorded on host " + std::string(host);
}

}  // namespace

Verdict judge_foreign(std::int64_t pid, std::string_view host, std::uint64_t start_seconds, const ProcessSight& sight,
                      const Standpoint& self) {
  const std::string name = "pid " + std::to_string(pid);
  const auto unknown = [](const std::string& why) { return Verdict{Liveness::unknown, why + "; its TTL decides"}; };
  if (!is_pid(pid)) return unknown("the record names no process");
  if (host.empty() || host != self.host) return unknown(host_words(host));
  if (sight.existence == ProcessSight::Existence::absent) {
    return unknown("no " + name + " is seen from here, but the record names neither boot nor pid namespace");
  }
  if (start_seconds == 0) return unknown("the record does not say when " + name + " started");
  if (!start_seen(sight, self)) return unknown("it cannot be seen when " + name + " started");
  if (!same_start(sight.start_wall_seconds, start_seconds)) {
    return unknown(name +
                   " started at another second, which a step of the wall clock or another pid namespace explains");
  }
  if (!runs(sight)) return unknown(name + " is a zombie");
  return {Liveness::live, name + " runs on this host since the recorded second"};
}

Verdict judge_foreign_as_agentmux(std::int64_t pid, std::string_view host, std::uint64_t start_seconds,
                                  const ProcessSight& sight, const Standpoint& self) {
  const std::string name = "pid " + std::to_string(pid);
  if (host.empty() || host != self.host) return {Liveness::live, host_words(host) + ", so it is not presumed dead"};
  if (pid == 0) return {Liveness::live, "the record names no process, so it is not presumed dead"};
  // A number that no process can have was asked of nobody: whatever the sight shows is about another.
  if (!is_pid(pid)) return {Liveness::dead, name + " cannot run"};
  if (sight.existence == ProcessSight::Existence::absent) return {Liveness::dead, name + " does not run"};
  if (start_seconds != 0 && start_seen(sight, self) && sight.start_wall_seconds != start_seconds) {
    return {Liveness::dead, name + " started at another second than was recorded"};
  }
  return {Liveness::live, name + " is not seen to be gone"};
}

}  // namespace tenure::rules
