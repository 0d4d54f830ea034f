// A `guard` inside the command of another one.
//
// A guard tells its command what it guards, and what those around it guard, in TENURE_GUARDS: "EPOCH KEY URL PID
// START", with KEY and URL percent-encoded, PID and START those of the process that guards; one after the other,
// separated by semicolons. It counts only for whom comes of that very process.
#pragma once

#include <string>

#include "tenure/epoch.h"
#include "tenure/key.h"

namespace tenure::cli {

inline constexpr char kGuardsVariable[] = "TENURE_GUARDS";

// The value of the variable for a command that this process guards.
std::string guards_with(const Key& key, Epoch epoch, const std::string& url);
// Whether we run inside a command under the guard of that key: to wait for it would never end.
bool is_guarded_around(const Key& key, const std::string& url);

}  // namespace tenure::cli
