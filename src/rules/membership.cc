#include "rules/membership.h"

#include "rules/liveness.h"

namespace tenure::rules {

Verdict judge_member(const ProcessIdentity& recorded, const MemberEvidence& evidence, const Standpoint& self) {
  const std::string pid = "pid " + std::to_string(recorded.pid);
  if (evidence.byte == ByteSight::free) {
    return {Liveness::dead, pid + " is gone: the kernel let go of its lock"};
  }
  if (!evidence.flagged) return {Liveness::live, pid + " is alive: its keeper thread runs"};
  const bool ours_to_see = recorded.pid_namespace == self.identity.pid_namespace && self.proc_usable;
  if (ours_to_see && evidence.ending) {
    return {Liveness::dead, pid + " is dead: its threads have begun to exit and its memory is being freed"};
  }
  const Verdict process = judge_process(recorded, evidence.sight, self);
  if (process.liveness == Liveness::dead) return process;
  return {Liveness::unknown, "the keeper thread of " + pid + " has ended, and its lock is not free yet"};
}

}  // namespace tenure::rules
