// A process of which only its own number and its start are known, looked for under the whole kernel.
#pragma once

#include <cstdint>
#include <string>

#include "model/evidence.h"

namespace tenure::os {

// `nowhere` only when everything of this kernel could be seen: we are in the initial pid namespace, /proc is our own
// and hides nobody from us, and of every process that it listed it was read, or was over, that it is another one. A
// zombie without other threads counts as gone. A process with that number and another start is another process, unless
// it lives in another time namespace, where its own reading of its start differs from ours. `root`: where /proc is.
Anywhere find_process(const Standpoint& self, std::int32_t pid, std::uint64_t start_ticks,
                      const std::string& root = "/proc");

}  // namespace tenure::os
