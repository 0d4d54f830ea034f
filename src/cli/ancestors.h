// Whether a process is one of those that started us.
#pragma once

#include "tenure/holder.h"

namespace tenure::cli {

// False where that cannot be seen.
bool is_ancestor(const ProcessIdentity& process);

}  // namespace tenure::cli
