#include "lease/lease_pool.h"

namespace tenure::detail {

// By now no lease is left: each one keeps its space alive, and so this.
LeasePool::~LeasePool() {
  for (const auto& state : all_) state->self_.reset();
}

LeaseState* LeasePool::take_hot() noexcept {
  for (auto& hot : hot_) {
    if (hot.load(std::memory_order_relaxed) == nullptr) continue;
    if (LeaseState* state = hot.exchange(nullptr, std::memory_order_acq_rel)) return state;
  }
  return nullptr;
}

std::shared_ptr<LeaseState> LeasePool::take() {
  if (LeaseState* state = take_hot()) return std::move(state->self_);
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
    if (!hot.compare_exchange_strong(empty, raw, std::memory_order_seq_cst, std::memory_order_relaxed)) continue;
    // close() may have looked here before.
    if (closed_.load(std::memory_order_seq_cst)) close();
    return;
  }
  const auto space = raw->let_go();
  std::lock_guard lock(mutex_);
  idle_.push_back(raw);
}

void LeasePool::close() noexcept {
  const auto self = shared_from_this();  // the last space that is let go may be ours
  closed_.store(true, std::memory_order_seq_cst);
  while (LeaseState* state = take_hot()) {
    const auto space = state->let_go();
    std::lock_guard lock(mutex_);
    idle_.push_back(state);
  }
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
