// What a Lease and its keeper share. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/process_mark.h"
#include "engine/engine.h"
#include "env/environment.h"
#include "tenure/space.h"

namespace tenure::detail {

class SpaceState;

class LeaseState {
 public:
  LeaseState(std::shared_ptr<SpaceState> space, Grant grant, Stop lost_signal);
  ~LeaseState();

  ClaimRef ref() const { return {grant_.key, grant_.claim, grant_.epoch}; }
  const Grant& grant() const { return grant_; }
  const Stop& lost_signal() const { return lost_signal_; }
  SpaceState& space() { return *space_; }

  Result<void> verify();
  Result<std::optional<Duration>> renew();
  Result<bool> release();
  Result<void> guard(Duration at_most, const std::function<void()>& operation);
  // Called by the keeper. False: the lease is over and needs no more beats.
  bool beat();
  bool check();

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  std::optional<Loss> loss() const;
  void on_lost(std::function<void(const Loss&)> callback);
  std::optional<BootTime> valid_until() const;

 private:
  // nullopt while the handle may be used; else the error that every call on it ends with.
  std::optional<Error> barred() const;
  Error as_lost(const Loss& loss) const;
  // Remembers the first loss and tells whoever waits for it. Not for a lease that was given back.
  void mark_lost(const Error& error);
  template <class T>
  void note_loss(const Result<T>& result) {
    if (!result && result.error().code == Code::lost) mark_lost(result.error());
  }

  const base::ProcessMark mark_;
  const std::shared_ptr<SpaceState> space_;
  const Grant grant_;
  const Stop lost_signal_;
  std::atomic<bool> lost_{false};

  mutable std::mutex mutex_;
  bool released_ = false;
  std::optional<Loss> loss_;
  std::function<void(const Loss&)> callback_;
  std::optional<BootTime> valid_until_;
};

}  // namespace tenure::detail
