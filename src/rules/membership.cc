#include "rules/membership.h"

#include "rules/liveness.h"

namespace tenure::rules {

Verdict judge_member(const ProcessIdentity& recorded, const MemberEvidence& evidence, const Standpoint& self) {
  const std::string pid = "pid " + std::to_string(recorded.pid);
  if (evidence.byte == ByteSight::free) {
    return {Liveness::dead, pid + " is gone: the kernel let go of its lock"};
  }
  if (!evidence.flagged) return {Liveness::live, pid + " is alive: its keeper thread runs"};
  const Verdict process = judge_process(recorded, evidence.sight, self);
  if (process.liveness == Liveness::dead) return process;
  const bool seen = recorded.pid_namespace == self.identity.pid_namespace && self.proc_usable &&
                    evidence.sight.stat == ProcessSight::Stat::read &&
                    evidence.sight.start_ticks == recorded.start_ticks;
  if (seen && evidence.ending) {
    return {Liveness::dead, pid + " is dead: its threads have begun to exit and its memory is being freed"};
  }
  return {Liveness::unknown, "the keeper thread of " + pid + " has ended, and its lock is not free yet"};
}

}  // namespace tenure::rules
