// Membership: who else has joined, whether they live, and clearing up after those who do not.
#pragma once

#include <string>

#include "engine/local/core.h"
#include "tenure/holder.h"

namespace tenure::local {

// What a member said of itself when it joined.
struct MemberSeen {
  bool current = false;  // false: that generation is over
  ProcessIdentity identity;
  std::string owner, host, user_name, command, directory;
  WallTime joined;
};
MemberSeen see_member(const Core& core, MemberId member);
// Its process is stopped, as far as can be seen. Asks the system.
bool is_stopped(const Core& core, const MemberSeen& member);

// Without asking the system: its number was given to another, or the kernel flagged its word, or it has none.
inline bool suspicious(const Core& core, MemberId member) noexcept {
  if (member.number >= core.table.limits().members) return true;
  if (core.table.state(member.number).load(std::memory_order_acquire) != state_word(member.generation, Phase::live)) {
    return true;
  }
  const std::uint32_t life = core.table.row(member.number).life.load(std::memory_order_acquire);
  return (life & env::kFlaggedBit) != 0 || (life & env::kThreadMask) == 0;
}

// From now on there is something to lose: the keeper looks often.
void keep_watch(Core& core) noexcept;
inline void note_grant(Core& core) noexcept {
  if (!core.granted.load(std::memory_order_relaxed)) keep_watch(core);
}

enum class Care : std::uint8_t {
  quick,  // asks the system only where the word of the member gives reason to
  usual,  // asks for the byte too
};
// The verdict on a member, by rules/membership.h. Asks the system: not inside a section. Whoever finds a flagged word
// wakes all who sleep on it first: the kernel woke one.
Verdict prove(Core& core, MemberId member, Care care);

// Everything that a dead member left: sections, places in line, keys (those apart that other proofs keep alive), cells.
// Only by who has its byte. False: something is kept alive by a proof of its own, and the number stays taken.
Result<bool> clear_member(Core& core, MemberId member);
// The sections alone: also those that somebody died in who was taking over the number that we are taking over.
void free_sections(Core& core, MemberId member);
// All of it, of everybody who can be proven dead, to make room.
void clear_dead_members(Core& core);

}  // namespace tenure::local
