// The guardian itself: what runs in the second process of `run`. See guardian.h.
#pragma once

#include "cli/guardian.h"

namespace tenure::cli {

// In the child of the runner, right after the fork. Of the runner's threads none is here; memory can be had all the
// same, since fork(3) of the C library sees to it, and nothing else that a thread may have locked is used.
[[noreturn]] void be_guardian(const GuardianPlan& plan, int runner, Descriptor socket);

}  // namespace tenure::cli
