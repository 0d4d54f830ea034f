#include "lease/lease_pool.h"

namespace tenure::detail {

// By now no lease is left: each one keeps its space alive, and so this.
LeasePool::~LeasePool() {
  for (const auto& state : all_) state->self_.reset();
}

std::shared_ptr<LeaseState> LeasePool::take() {
  for (auto& hot : hot_) {
    if (hot.load(std::memory_order_relaxed) == nullptr) continue;
    if (LeaseState* state = hot.exchange(nullptr, std::memory_order_acquire)) return std::move(state->self_);
  }
  std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    LeaseState* state = idle_.back();
    idle_.pop_back();
    return std::move(state->self_);
  }
  auto fresh = std::make_shared<LeaseState>();
  all_.push_back(fresh);
  idle_.reserve(all_.capacity());
  return fresh;
}

void LeasePool::put(std::shared_ptr<LeaseState> state) noexcept {
  LeaseState* raw = state.get();
  raw->self_ = std::move(state);
  for (auto& hot : hot_) {
    LeaseState* empty = nullptr;
    if (hot.load(std::memory_order_relaxed) != nullptr) continue;
    if (hot.compare_exchange_strong(empty, raw, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  std::lock_guard lock(mutex_);
  idle_.push_back(raw);
}

void LeasePool::look(Engine& engine) {
  for (std::size_t i = 0;; ++i) {
    LeaseState* state = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (i >= all_.size()) return;
      state = all_[i].get();
    }
    state->look(engine);
  }
}

}  // namespace tenure::detail
