// What a Lease and those who watch over it share. Thread-safe.
//
// One object serves many leases, one after the other: see lease_pool.h.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/process_mark.h"
#include "engine/engine.h"
#include "env/environment.h"
#include "tenure/space.h"

namespace tenure::detail {

class SpaceState;

class LeaseState : public std::enable_shared_from_this<LeaseState> {
 public:
  LeaseState() = default;
  LeaseState(const LeaseState&) = delete;
  LeaseState& operator=(const LeaseState&) = delete;

  // Begins a lease. `lost_signal`: where it was taken beforehand; else it is made when somebody asks for it.
  void begin(std::shared_ptr<SpaceState> space, Grant grant, std::optional<Stop> lost_signal);
  // By the short way: no allocation, once a key as long was here before. False: nothing began.
  bool begin_short(SpaceState& space, ShortWay& short_way, const Key& key);
  // Its Lease is gone: back into the pool, where the engine leaves it to us alone. In a forked child it is left where
  // it lies, because what it would take may have been in use in the parent at the fork.
  static void drop(std::shared_ptr<LeaseState> state);

  ClaimRef ref() const { return {grant_.key, grant_.claim, grant_.epoch}; }
  const Grant& grant() const { return grant_; }
  SpaceState& space() { return *space_; }
  // -1 when no descriptor can be had.
  int lost_descriptor();

  Result<void> verify();
  Result<std::optional<Duration>> renew();
  Result<bool> release();
  Result<void> guard(Duration at_most, const Guarded& operation);
  // Called by the keeper. False: the lease is over and needs no more beats.
  bool beat();
  bool check();
  // Called by an engine that hears of losses itself, on a thread of its own: looks whether this one was lost.
  void look(Engine& engine);

  // By the short way alone; false says nothing.
  bool is_current() const {
    return short_way_ != nullptr && short_grant_.place != 0 && short_way_->current(short_grant_);
  }
  bool held() const { return phase_.load(std::memory_order_acquire) == Phase::held; }
  bool lost() const { return phase_.load(std::memory_order_acquire) == Phase::lost; }
  std::optional<Loss> loss() const;
  void on_lost(std::function<void(const Loss&)> callback);
  std::optional<BootTime> valid_until() const;

  Result<void> on_ask(std::function<void(const Ask&)> callback);
  Result<std::vector<Ask>> asks();
  Result<bool> answer(std::uint64_t id, Answer answer, const std::string& words);
  Result<void> hand_off(const HandOff& offer);
  Result<bool> withdraw_hand_off();

 private:
  friend class LeasePool;
  class AskListener;
  enum class Phase : std::uint8_t { idle, held, released, lost };

  void stay();
  // Ends it for this object, which still keeps the space and its place in it.
  void end();
  // Lets go of both; what kept the space alive is returned.
  std::shared_ptr<SpaceState> let_go();
  // nullopt while the handle may be used; else the error that every call on it ends with.
  std::optional<Error> barred() const;
  Error as_lost(const Loss& loss) const;
  // Tells of those who ask for it and were not told of. `ref` is what this object stood for when that was asked.
  void tell_asks(Engine& engine, const ClaimRef& ref);
  // Remembers the first loss, and returns whom to tell. Not for a lease that was given back.
  std::function<void(const Loss&)> set_lost(const Loss& loss);
  // The same, and tells.
  void mark_lost(const Error& error);
  template <class T>
  void note_loss(const Result<T>& result) {
    if (!result && result.error().code == Code::lost) mark_lost(result.error());
  }

  base::ProcessMark mark_;
  std::shared_ptr<SpaceState> space_;
  Grant grant_{.key = *Key::parse("-")};
  ShortWay* short_way_ = nullptr;
  ShortGrant short_grant_;
  std::atomic<Phase> phase_{Phase::idle};
  // How many look at it from another thread just now: it begins no other lease meanwhile.
  std::atomic<int> onlookers_{0};

  mutable std::mutex mutex_;
  bool plain_ = true;  // nothing of what follows was used: nothing need be cleared
  std::optional<Stop> lost_signal_;
  std::optional<Loss> loss_;
  std::function<void(const Loss&)> callback_;
  std::optional<BootTime> valid_until_;
  std::shared_ptr<AskListener> listener_;

  std::shared_ptr<LeaseState> self_;  // while no Lease has it: see lease_pool.h
};

}  // namespace tenure::detail
