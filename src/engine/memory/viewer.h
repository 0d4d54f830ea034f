// Viewer: the holders of a key as one client sees them, with its own clock and its own sight of processes.
#pragma once

#include "engine/memory/memory_store.h"
#include "env/environment.h"
#include "rules/ownership.h"

namespace tenure::memory {

class Viewer {
 public:
  explicit Viewer(const env::Environment& environment) : environment_(environment) {}

  const ProcessIdentity& self() const { return environment_.processes->self().identity; }
  Verdict judge(const Holding& holding) const;
  // What rules need to know of a holding.
  rules::Occupant occupant(const Holding& holding) const;
  // How the key stands; of several holders the oldest is shown and the others are counted.
  Observation observe(const Key& key, const Slot& slot) const;
  Observation observe(const Key& key, const Holding& holding) const;
  // An operation runs under guard within its bound, in a process that is not proven dead: the lease stays as it is.
  bool guarded(const Holding& holding) const;
  // Ran past it: the lease is over.
  bool past_guard(const Holding& holding) const;
  // Its holder offers it to a successor, and that may still adopt it.
  bool offered(const Holding& holding) const;
  // Nobody adopted it in time, and it goes back to the line: the lease is over.
  bool back_to_line(const Holding& holding) const;
  static std::string not_adopted(const Holding& holding);
  // Whoever asks still waits for an answer.
  bool asking(const Asker& asker) const;

 private:
  Verdict judge(const ProcessIdentity& process) const;
  bool guard_stands(const Holding& holding) const;
  bool same_clock(const OpenOffer& offer) const;
  rules::Age since_extension(const Holding& holding) const;

  const env::Environment& environment_;
};

}  // namespace tenure::memory
