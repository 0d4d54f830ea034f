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
  // An operation runs under guard within its bound, in a process that is not proven dead: nobody may take over.
  bool guarded(const Holding& holding) const;
  // Ran past it: the lease is over.
  bool past_guard(const Holding& holding) const;

 private:
  Verdict judge(const ProcessIdentity& process) const;
  rules::Age since_extension(const Holding& holding) const;

  const env::Environment& environment_;
};

}  // namespace tenure::memory
