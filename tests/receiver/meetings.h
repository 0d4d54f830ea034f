// Meetings: what those who meet a guard find there, and what must be so when all of them are through.
#pragma once

#include "receiver/explorer.h"

namespace tenure::tests {

// A guard whose maker has died.
void leave_a_stale_guard(Schedule& schedule);
// Whoever lives was inside, and left nothing behind.
void all_the_living_were_inside(Schedule& schedule);
void tell(const char* name, const Explored& explored);

}  // namespace tenure::tests
