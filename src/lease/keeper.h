// Keeper: one thread a space that gives the signs of life of all its leases and notices their loss at once.
//
// It sleeps in the engine's Changes; it wakes for a change, for the next beat, and at least every kLookAnyway where an
// engine has neither. Started with the first lease, ended with the space.
#pragma once

#include <memory>
#include <thread>

#include "base/process_mark.h"
#include "engine/engine.h"
#include "env/environment.h"

namespace tenure::detail {

class LeaseState;

class Keeper {
 public:
  Keeper(std::shared_ptr<Engine> engine, std::shared_ptr<const env::Clock> clock);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  // Ends the thread and waits for it, unless it is the keeper's own thread or a forked child that drops the last
  // reference.
  ~Keeper();

  // Code::no_descriptors where the thread cannot be given what it sleeps on.
  Result<void> add(const std::shared_ptr<LeaseState>& lease);
  void remove(const LeaseState* lease);

 private:
  struct Shared;
  Result<void> start();

  const base::ProcessMark mark_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace tenure::detail
