// Makes a Space over an engine: for compose, which knows all engines, and for tests.
#pragma once

#include <memory>
#include <string>

#include "engine/engine.h"
#include "env/environment.h"
#include "tenure/space.h"

namespace tenure::lease {

// `url` is what handles carry; another process must be able to open it.
Space over(std::shared_ptr<Engine> engine, env::Environment environment, std::string url);

}  // namespace tenure::lease
