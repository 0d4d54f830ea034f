// An operation of the library's user under guard: what it throws comes out again, once the guard was dropped.
#pragma once

#include <exception>

#include "engine/engine.h"

namespace tenure::lease {

struct GuardedEnd {
  Result<void> done;
  std::exception_ptr thrown;

  // Throws what the operation threw.
  Result<void> answer() const {
    if (thrown) std::rethrow_exception(thrown);
    return done;
  }
};

GuardedEnd run_guarded(Engine& engine, const GuardRequest& request, const Guarded& operation);

}  // namespace tenure::lease
