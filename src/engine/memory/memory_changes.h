// MemoryChanges: notices of change in a MemoryStore.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/memory/memory_store.h"

namespace tenure {

class MemoryChanges final : public Changes {
 public:
  MemoryChanges(std::shared_ptr<MemoryStore> store, env::Environment environment);
  ~MemoryChanges() override;
  MemoryChanges(const MemoryChanges&) = delete;
  MemoryChanges& operator=(const MemoryChanges&) = delete;

  Result<Seen> wait(Duration at_most, const Stop* stop) override;

 private:
  std::shared_ptr<MemoryStore> store_;
  env::Environment environment_;
  memory::Unseen unseen_;  // guarded by the store's mutex
};

}  // namespace tenure
