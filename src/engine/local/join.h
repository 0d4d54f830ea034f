// What joining a space has in common with looking into it and with mending it.
#pragma once

#include <memory>
#include <string>

#include "engine/local/core.h"

namespace tenure::local {

// Maps the table that lies in the folder, if it is one of this boot whose members have their bytes in the `lock` that
// we are in through. False: there is no such table. Code::unsuitable_folder for one of another format, Code::damaged
// for noise.
Result<bool> map_present(Core& core);

// A core that only looks: `folder` was opened for that. Code::unreachable where there is no table.
Result<std::unique_ptr<Core>> open_observer(std::unique_ptr<env::LocalFolder> folder, std::shared_ptr<env::Words> words,
                                            env::Environment environment);

// Joins with a core that has entered nothing yet, and keeps in the log that an operator mended the space.
Result<void> note_repair(std::unique_ptr<Core> core, const std::string& reason);

}  // namespace tenure::local
