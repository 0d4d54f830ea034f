// Guarding: what is the same in every engine of work under guard.
#pragma once

#include "engine/engine.h"

namespace tenure::guarding {

// Within what can be added to a clock.
Duration bound_of(const GuardRequest& request);

// The operation ended, with `own`, past its bound.
Error past_bound(const GuardRequest& request, const Result<void>& own);

// What the operation itself came to, as the end of a sentence about the guard.
std::string words_of(const Result<void>& own);

}  // namespace tenure::guarding
