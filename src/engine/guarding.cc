#include "engine/guarding.h"

#include <algorithm>

#include "base/limits.h"

namespace tenure::guarding {
namespace {

thread_local const Inside* innermost = nullptr;

constexpr const char* kFindOut = "find out what the operation did before it is tried again";

std::string words_of(const Result<void>& own) {
  return own ? "the operation itself succeeded" : "the operation itself failed: " + own.error().message;
}

bool is_same(const Place& one, const Place& other) {
  return one.space == other.space && one.process.pid == other.process.pid &&
         one.process.start_ticks == other.process.start_ticks &&
         one.process.pid_namespace == other.process.pid_namespace;
}

}  // namespace

Result<void> check(const GuardRequest& request, const Guarded& operation) {
  if (!operation) return fail(Code::usage, "nothing is to be done under the guard of " + request.key.text());
  if (request.at_most > Duration{0} && request.at_most <= limits::kLongestDuration) return {};
  return fail(Code::bad_duration, "the bound of a guard is above 0 and at most " + words(limits::kLongestDuration));
}

Inside::Inside(Place place, Key key) : place_(std::move(place)), key_(std::move(key)), outer_(innermost) {
  innermost = this;
}

Inside::~Inside() {
  innermost = outer_;
}

bool inside_any() noexcept {
  return innermost != nullptr;
}

Result<void> check_outside(const Place& place, const Key& key) {
  for (const Inside* one = innermost; one != nullptr; one = one->outer_) {
    if (one->key_ != key || !is_same(one->place_, place)) continue;
    return fail(Code::would_deadlock,
                "this thread runs an operation under the guard of " + key.text() + ", and would wait for itself",
                "do it when the operation has ended");
  }
  return {};
}

Error past_bound(const GuardRequest& request, const Result<void>& own) {
  return Error{Code::unknown_outcome,
               "the operation under the guard of " + request.key.text() + " ran past its bound of " +
                   words(request.at_most) + ": the lease was given up, and others may have acted meanwhile; " +
                   words_of(own),
               kFindOut, nullptr};
}

Error lost_meanwhile(const GuardRequest& request, const Error& why, const Result<void>& own) {
  return Error{
      Code::unknown_outcome,
      request.key.text() + " was lost while an operation ran under its guard (" + why.message + "); " + words_of(own),
      kFindOut, why.holder};
}

Error not_dropped(const GuardRequest& request, const Error& why, const Result<void>& own) {
  return Error{Code::unknown_outcome,
               "the guard of " + request.key.text() + " could not be dropped (" + why.message +
                   "): at its bound the lease is lost; " + words_of(own),
               "release it, and claim it again", nullptr};
}

Error busy(const Key& key) {
  return Error{Code::section_busy, "an operation runs under the guard of " + key.text(), "try again when it has ended",
               nullptr};
}

}  // namespace tenure::guarding
