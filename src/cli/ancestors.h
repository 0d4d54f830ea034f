// Which process comes of which, as /proc shows it.
#pragma once

#include "tenure/holder.h"

namespace tenure::cli {

// Whether it can be seen at all.
bool ancestors_are_seen();
// Is it one of those that started us? False where that cannot be seen.
bool is_ancestor(const ProcessIdentity& process);
// Does `process` come of `ancestor`, or is it that one itself? False where that cannot be seen.
bool descends(const ProcessIdentity& process, const ProcessIdentity& ancestor);

}  // namespace tenure::cli
