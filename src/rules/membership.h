// Is a member of a local space alive? A pure verdict on what its liveness word, /proc and its byte say.
#pragma once

#include <cstdint>

#include "model/evidence.h"
#include "tenure/holder.h"

namespace tenure::rules {

enum class ByteSight : std::uint8_t { not_asked, held, free, unreadable };

struct MemberEvidence {
  // The kernel flagged its liveness word: its keeper thread has ended, so a group exit or an exec has begun, or the
  // keeper alone was killed (and its own process then counts its leases as lost).
  bool flagged = false;
  ProcessSight sight;   // of its pid; means something only where the pid namespace is ours
  bool ending = false;  // env::Processes::ending
  ByteSight byte = ByteSight::not_asked;
};

// `recorded`: as the member wrote it when it joined the table of this boot.
//
//   byte free                                     dead, whatever else is seen
//   not flagged                                   live
//   flagged, seen by us, and: gone, another
//   start, a zombie without threads, or ending    dead
//   flagged otherwise                             unknown: its byte decides, later
Verdict judge_member(const ProcessIdentity& recorded, const MemberEvidence& evidence, const Standpoint& self);

}  // namespace tenure::rules
