#include "engine/memory/memory_store.h"

#include <algorithm>

namespace tenure {

void MemoryStore::announce(const Key& key) {
  for (memory::Unseen* unseen : watchers_) {
    if (unseen->keys.size() >= memory::kMaxUnseenKeys) {
      unseen->keys.clear();
      unseen->everything = true;
    }
    if (!unseen->everything) unseen->keys.insert(key);
  }
  changed_.notify_all();
}

void MemoryStore::remember(const memory::Holding& ended, EventKind end, std::string why) {
  for (memory::Asker* asker : ended.asks) {
    asker->end(Became::ended, end, why);
  }
  if (end == EventKind::released && why.empty()) return;
  if (endings_.size() >= memory::kMaxEndings) endings_.pop_front();
  endings_.push_back({ended.claim, std::move(why)});
}

std::string MemoryStore::why_ended(const ClaimId& claim) const {
  const auto found =
      std::find_if(endings_.begin(), endings_.end(), [&](const memory::Ending& e) { return e.claim == claim; });
  return found == endings_.end() ? std::string{} : found->why;
}

void MemoryStore::tidy(const Key& key) {
  const auto found = slots_.find(key);
  if (found != slots_.end() && found->second.idle()) slots_.erase(found);
}

}  // namespace tenure
