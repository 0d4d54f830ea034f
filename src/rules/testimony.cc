// The verdict on a lease: all that speaks for it, weighed.
#include "rules/liveness.h"

namespace tenure::rules {
namespace {

// Whether the keeper, and whoever it passed its life lock to, is over.
Verdict judge_keeping(const Testimony& testimony) {
  const Verdict& keeper = testimony.keeper;
  if (!testimony.life) return keeper;
  // The kernel lets go of the lock at death and at exec: a process that executed another program holds nothing more,
  // though its number and start are the same.
  if (*testimony.life == LifeSight::free && testimony.same_boot) return {Liveness::dead, "its life lock is free"};
  if (keeper.liveness != Liveness::dead || !testimony.same_boot) return keeper;
  // Its own process is gone, but a child may have been given the lock, and the lock cannot be asked.
  return {Liveness::unknown, keeper.evidence + ", but its life lock cannot be asked whether a child goes on"};
}

}  // namespace

Verdict judge_lease(const Testimony& testimony) {
  if (testimony.life == LifeSight::held) return {Liveness::live, "its life lock is held"};
  const Verdict keeping = judge_keeping(testimony);
  if (!testimony.owner) return keeping;

  const Verdict& owner = *testimony.owner;
  if (keeping.liveness == Liveness::live) return keeping;
  if (owner.liveness == Liveness::live) return {Liveness::live, "its owner lives: " + owner.evidence};
  if (keeping.liveness == Liveness::unknown) return keeping;
  if (owner.liveness == Liveness::unknown) {
    return {Liveness::unknown, "its keeper is dead (" + keeping.evidence + "), its owner may live: " + owner.evidence};
  }
  return {Liveness::dead, keeping.evidence + ", and its owner is dead: " + owner.evidence};
}

}  // namespace tenure::rules
