// The `memory:` engine: the reference, simple and obviously right. See README.md.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/memory/memory_store.h"
#include "env/environment.h"

namespace tenure {

// One client of the store. Several of one process share an environment; in tests each has its own and is then a
// process of its own.
std::shared_ptr<Engine> open_memory(std::shared_ptr<MemoryStore> store, env::Environment environment);

}  // namespace tenure
