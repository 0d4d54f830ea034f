// LeasePool: the objects behind leases, used again and again, so that a claim by the short way allocates nothing.
//
// An object that no Lease has owns itself; the pool knows all of them, and they live as long as the pool.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "lease/lease_state.h"

namespace tenure::detail {

class LeasePool : public std::enable_shared_from_this<LeasePool> {
 public:
  LeasePool() = default;
  LeasePool(const LeasePool&) = delete;
  LeasePool& operator=(const LeasePool&) = delete;
  ~LeasePool();

  std::shared_ptr<LeaseState> take();
  // Whose lease has ended.
  void put(std::shared_ptr<LeaseState> state) noexcept;
  // Nobody will take any more: what idle objects keep is let go, and what comes back later too.
  void close() noexcept;
  // Leases may have been lost: looks at each one. From a thread of the engine.
  void look(Engine& engine);

 private:
  LeaseState* take_hot() noexcept;

  std::array<std::atomic<LeaseState*>, 4> hot_{};  // the nearest at hand: they keep their space, and a place in it
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::vector<LeaseState*> idle_;  // with room for all: putting one there does not allocate
  std::vector<std::shared_ptr<LeaseState>> all_;
};

}  // namespace tenure::detail
