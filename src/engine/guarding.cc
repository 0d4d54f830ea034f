#include "engine/guarding.h"

#include <algorithm>

#include "base/limits.h"

namespace tenure::guarding {

Duration bound_of(const GuardRequest& request) {
  return std::clamp(request.at_most, Duration{0}, Duration{limits::kLongestDuration});
}

Error past_bound(const GuardRequest& request, const Result<void>& own) {
  return Error{Code::unknown_outcome,
               "the operation under the guard of " + request.key.text() + " ran past its bound of " +
                   words(bound_of(request)) + ": the lease was given up, and others may have acted meanwhile; " +
                   words_of(own),
               "find out what the operation did before it is tried again", nullptr};
}

std::string words_of(const Result<void>& own) {
  return own ? "the operation itself succeeded" : "the operation itself failed: " + own.error().message;
}

}  // namespace tenure::guarding
