// Looking at a local space, whose table may come and go meanwhile: there is none before its first use after a reboot,
// and an operator may have it made anew. Whoever only looks holds no lock that would keep the table in its place.
#pragma once

#include <functional>
#include <memory>

#include "engine/engine.h"
#include "env/environment.h"
#include "env/local_folder.h"
#include "env/words.h"

namespace tenure {

// Where there is no table, nothing is held. `open` gives the folder, opened for looking.
Result<std::shared_ptr<Engine>> look_at_local(std::function<Result<std::unique_ptr<env::LocalFolder>>()> open,
                                              std::shared_ptr<env::Words> words, env::Environment environment);

}  // namespace tenure
