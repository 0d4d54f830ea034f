// Check: whether a table is whole, while nobody changes it. For tests. Takes every section in turn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/local/core.h"

namespace tenure {
class Engine;
}

namespace tenure::local {

// A sentence for each thing that is not as it must be; empty: all is well. Buckets whose section cannot be entered are
// named too.
std::vector<std::string> faults_in(Core& core);

// Cells that this member took, and neither uses nor keeps at hand.
std::size_t lost_cells(Core& core);

// The inside of an engine that open_local() gave.
Core& core_of(Engine& engine);

}  // namespace tenure::local
