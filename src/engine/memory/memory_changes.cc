#include "engine/memory/memory_changes.h"

namespace tenure {

namespace {
constexpr std::chrono::milliseconds kLook{5};  // at the clock and at the Stop, which wake no condition variable
}

MemoryChanges::MemoryChanges(std::shared_ptr<MemoryStore> store, env::Environment environment)
    : store_(std::move(store)), environment_(std::move(environment)) {
  std::lock_guard lock(store_->mutex_);
  store_->watchers_.insert(&unseen_);
}

MemoryChanges::~MemoryChanges() {
  if (environment_.processes->forked()) return;  // the mutex may be locked for ever here
  std::lock_guard lock(store_->mutex_);
  store_->watchers_.erase(&unseen_);
}

Result<Changes::Seen> MemoryChanges::wait(Duration at_most, const Stop* stop) {
  if (environment_.processes->forked()) {
    return fail(Code::wrong_process, "a forked child is not told of its parent's changes");
  }
  std::unique_lock lock(store_->mutex_);
  const MonotonicTime begun = environment_.clock->monotonic();
  while (unseen_.keys.empty() && !unseen_.everything) {
    if (stop != nullptr && stop->requested()) return Seen{};
    if (environment_.clock->monotonic() - begun >= at_most) return Seen{};
    store_->changed_.wait_for(lock, kLook);
    // What ends by itself is told by whoever waits.
    std::erase_if(store_->ending_, [&](const auto& each) {
      if (environment_.clock->monotonic() < each.second) return false;
      store_->announce(Key(each.first));
      return true;
    });
  }
  Seen seen{.keys = {unseen_.keys.begin(), unseen_.keys.end()}, .everything = unseen_.everything};
  unseen_ = {};
  return seen;
}

}  // namespace tenure
