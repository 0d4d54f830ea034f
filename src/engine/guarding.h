// Guarding: what is the same in every engine of work under guard. The rule itself: Engine::guard.
#pragma once

#include <string>

#include "engine/engine.h"

namespace tenure::guarding {

// A space as one process has it open, so that it is known again under another handle of the same process.
struct Place {
  std::string space;
  ProcessIdentity process;
};

// Code::usage without an operation; Code::bad_duration for a bound of 0 or less, or above the longest duration.
Result<void> check(const GuardRequest& request, const Guarded& operation);

// While it lives, its thread runs an operation under the guard of that key. On the stack only.
class Inside {
 public:
  Inside(Place place, Key key);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  friend Result<void> check_outside(const Place& place, const Key& key);
  const Place place_;
  const Key key_;
  const Inside* const outer_;
};

// Whether this thread runs anything under guard: where not, nothing more need be asked.
bool inside_any() noexcept;
// Code::would_deadlock on a thread that runs an operation under the guard of that very key.
Result<void> check_outside(const Place& place, const Key& key);

// How the guard that ran is answered for, where `own`, what the operation itself came to, is not the whole story.
//
// It ended past its bound.
Error past_bound(const GuardRequest& request, const Result<void>& own);
// The lease was lost meanwhile, by whatever way: `why`.
Error lost_meanwhile(const GuardRequest& request, const Error& why, const Result<void>& own);
// The guard stands still, and goes with its bound or its process.
Error not_dropped(const GuardRequest& request, const Error& why, const Result<void>& own);
// Of a call that would have to wait for the operation of another thread or process.
Error busy(const Key& key);

}  // namespace tenure::guarding
