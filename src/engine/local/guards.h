// Guards: whether an operation runs under the guard of a lease, and in which process. One word of the lease says both;
// the process need not be the holder's.
#pragma once

#include "engine/local/core.h"
#include "engine/local/snapshot.h"

namespace tenure::local {

inline constexpr const char* kPastGuard = "an operation ran past the bound of its guard";

enum class GuardSight : std::uint8_t {
  none,
  runs,      // within its bound, in a member that is not proven dead: the lease stays as it is
  past,      // past its bound, and not dropped: the lease is over
  orphaned,  // its member is dead: it guards nothing, whenever its bound
};
// Asks the system where there is reason to: not inside a section.
GuardSight see_guard(Core& core, std::uint64_t word);
inline bool guarded(Core& core, const HoldingView& lease) {
  return see_guard(core, lease.guard) == GuardSight::runs;
}
inline bool past_guard(Core& core, const HoldingView& lease) {
  return see_guard(core, lease.guard) == GuardSight::past;
}

// Inside the section: no guard began, or ended, since the lease was looked at.
inline bool is_same_guard(const Cell& cell, std::uint64_t seen) noexcept {
  return cell.body[slot_field::kGuard].load(std::memory_order_relaxed) == seen;
}
// Inside the section, where nobody can be asked: within its bound, whoever runs it.
bool guard_may_run(const Core& core, const Cell& cell) noexcept;

// The guard of a lease that a dead member ran. Only by who has its byte.
Result<void> drop_guard_of(Core& core, MemberId member, CellIndex lease);

}  // namespace tenure::local
