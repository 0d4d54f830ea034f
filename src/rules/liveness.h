// Is a holder alive? Pure verdicts on evidence, the only place where it is decided.
//
// Nobody is presumed dead: dead needs proof in the same kernel boot, the same pid and time namespace, or a kernel lock
// that only the holder had. Unknown counts as live.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/evidence.h"
#include "tenure/holder.h"

namespace tenure::rules {

// A process that was recorded with its full identity.
Verdict judge_process(const ProcessIdentity& recorded, const ProcessSight& sight, const Standpoint& self);

// A process in a record of AgentMux: a pid, a host name and a start in wall seconds (0: unknown). It names neither boot
// nor namespace, so it can be proven alive (same host name, pid runs, same start second give or take 2) but never dead.
Verdict judge_foreign(std::int64_t pid, std::string_view host, std::uint64_t start_seconds, const ProcessSight& sight,
                      const Standpoint& self);

// The same by AgentMux's own rule (`?expiry=age`): same non-empty host name, pid not 0, and (not there, or another
// start second). live stands for "not dead by that rule".
Verdict judge_foreign_as_agentmux(std::int64_t pid, std::string_view host, std::uint64_t start_seconds,
                                  const ProcessSight& sight, const Standpoint& self);

// Everything that speaks for one lease.
struct Testimony {
  Verdict keeper;                 // the process that keeps the lease
  std::optional<Verdict> owner;   // whom it is kept for
  std::optional<LifeSight> life;  // nullopt: the record names no life lock
  // The record was written in this kernel boot; or nobody can tell (no /proc there or here) and the folder is this
  // machine's alone, so that a lock of another boot cannot be held any more.
  bool same_boot = false;
};
// The lease is over only when every proof is over. A held life lock is life, whatever /proc says. A free life lock of
// the same boot proves the keeper (and every child it was passed to) dead, whatever cannot be seen; the owner, if there
// is one, must be proven dead by itself. A lock named in this boot that cannot be asked leaves a dead keeper unknown: a
// child may have been given it. The evidence names what decided.
Verdict judge_lease(const Testimony& testimony);

// Whether a claimant is the very process that a record names.
bool same_process(const ProcessIdentity& recorded, const ProcessIdentity& self);

}  // namespace tenure::rules
