// Guard: the file that keeps verbs apart, pi-amq's and ours, while one of them reads, decides and writes.
//
// Entering: no live intent, then the guard made, then the intents looked at once more, then the guard looked at:
// whoever is about to move a stale guard has said so before it read it, so that one of us two sees the other.
#pragma once

#include <functional>
#include <optional>

#include "engine/receiver/core.h"
#include "engine/receiver/pass.h"

namespace tenure::receiver {

class Guard {
 public:
  // Code::section_busy: a live guard or intent was in the way for as long as the bound (pi-amq: lifecycle-busy).
  // Code::damaged, Code::holder_live: one that is damaged, or whose maker cannot be judged (lifecycle-unverifiable).
  // Code::cancelled: the stop of the bound. core and pass must outlive it.
  static Result<Guard> enter(const Core& core, const Pass& pass, const Bound& bound);

  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  ~Guard();
  // Drops it, if it is still ours; from any thread. False: somebody moved it away meanwhile, taking us for dead.
  Result<bool> leave();

 private:
  Guard(const Core& core, const Pass& pass) : core_(&core), pass_(&pass) {}
  const Core* core_;
  const Pass* pass_;
};

// What keeps the guard from us, if anything does. The message names who, and pi-amq's word for the refusal.
struct InTheWay {
  enum class Kind : std::uint8_t { nothing, changed, busy, stale, unverifiable };
  Kind kind = Kind::nothing;
  Error error{Code::section_busy, "", "", nullptr};
  FileIdentity identity;   // of the file that was judged
  std::string name;        // of it
  std::string generation;  // of one that can be read
};

// The guard that lies there now.
Result<InTheWay> guard_in_the_way(const Core& core);
// The intents: those of the dead are removed, unless one only looks.
Result<InTheWay> intents_in_the_way(const Core& core, bool only_look = false);
// Moves a stale guard to quarantine, under an intent of ours; whoever else was faster is as good.
Result<void> reclaim_guard(const Core& core, const Pass& pass);
// The same of the very guard that was judged, whatever the verdict was: for an operator's repair.
Result<void> displace_guard(const Core& core, const Pass& pass, const InTheWay& judged);

}  // namespace tenure::receiver
