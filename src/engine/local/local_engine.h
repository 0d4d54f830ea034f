// LocalEngine: Engine over the table of a local space, for one member. Private to this folder; others use local.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "engine/engine.h"
#include "engine/guarding.h"
#include "engine/local/advance.h"
#include "engine/local/core.h"
#include "engine/local/local.h"
#include "engine/local/snapshot.h"

namespace tenure::local {

class Teller;

class LocalEngine final : public Engine, private ShortWay {
 public:
  explicit LocalEngine(std::unique_ptr<Core> core);
  ~LocalEngine() override;

  const Traits& traits() const override { return traits_; }
  std::string location() const override { return core_->folder->path(); }

  // claim.cc
  Result<Grant> try_claim(const ClaimRequest& request) override;
  Result<Grant> await(const ClaimRequest& request, const Wait& wait) override;
  // keep.cc
  Result<Renewal> beat(const ClaimRef& claim) override;
  Result<Renewal> renew(const ClaimRef& claim) override;
  Result<Standing> verify(const ClaimRef& claim) override;
  // guard.cc
  Result<void> guard(const GuardRequest& request, const Guarded& operation) override;
  // give_back.cc
  Result<Released> release(const ClaimRef& claim) override;
  Result<Revoked> revoke(const RevokeRequest& request) override;
  // asking.cc
  Result<Asked> ask(const AskRequest& request) override;
  Result<std::vector<Ask>> asks(const ClaimRef& claim) override;
  Result<bool> answer(const ClaimRef& claim, std::uint64_t id, Answer answer, const std::string& words) override;
  // handing.cc
  Result<void> hand_off(const ClaimRef& claim, const HandOff& offer) override;
  Result<bool> withdraw_hand_off(const ClaimRef& claim) override;
  Result<Grant> adopt(const ClaimRequest& request) override;
  // look.cc
  Result<Observation> holder(const Key& key) override;
  Result<std::vector<Observation>> list(const std::string& prefix) override;
  Result<std::unique_ptr<Changes>> changes() override;
  Result<std::vector<Event>> log(const std::string& key) override;

  // short_way.cc
  ShortWay* short_way() override { return core_->me.none() ? nullptr : this; }
  void on_disturbance(const std::function<void()>& look) override;
  bool call_with_descriptors() override;

  // What the keeper thread does now and then, and when somebody knocked.
  void round();
  Core& core() { return *core_; }

 private:
  bool claim(const Key& key, ShortGrant& grant) noexcept override;
  bool release(ShortGrant& grant) noexcept override;
  void give_back_place(ShortGrant& grant) noexcept override;
  bool current(const ShortGrant& grant) const noexcept override;

  // Code::wrong_process in a forked child, Code::lost when our membership is over, Code::not_permitted for an observer.
  Result<void> check_member() const;
  Result<void> check_process() const;
  // Of whatever changes the key: also not from within an operation under its guard.
  Result<void> check_change(const Key& key) const;
  guarding::Place place() const;
  // The current claim as the table has it, or what became of it.
  Result<HoldingView> current(const ClaimRef& claim) const;
  Error lost(const ClaimRef& claim, const std::optional<SlotView>& now) const;
  // The claim whose lease is to be guarded.
  Result<ClaimRef> guarded_claim(const GuardRequest& request) const;
  // Waits for an operation that runs, and returns the lease under a guard of ours.
  Result<HoldingView> begin_guard(const GuardRequest& request, const ClaimRef& claim);
  Result<bool> drop_guard(const HoldingView& guarded);
  void end_past_guard(const HoldingView& guarded);
  // A moment. False: it was waited for since `begun` for as long as may be.
  bool wait_for_guard(MonotonicTime begun) const;
  Result<bool> revoke_as_seen(const RevokeRequest& request, const std::optional<SlotView>& seen,
                              const Observation& was);
  Result<bool> end_leases(const Key& key, const std::vector<const HoldingView*>& leases, const std::string& why);
  Result<bool> give_back(const ClaimRef& claim, const HoldingView& seen);
  Result<bool> withdraw_offer(const SlotView& seen);
  // Raises the durable bound of epochs when half of a block is left, or at once with `now`.
  Result<void> raise_ceiling(bool now);
  void tell();
  void look_again_at_its_end(const HoldingView& lease) const;
  void tell_at(std::int64_t monotonic) const;

  friend class Claiming;

  std::unique_ptr<Core> core_;
  Traits traits_;
  std::uint32_t knocks_ = 0;  // as the keeper thread saw them last
  std::mutex telling_;        // held by the keeper while it calls `disturbed_` itself; before mutex_
  mutable std::mutex mutex_;  // of what follows
  std::function<void()> disturbed_;
  std::shared_ptr<Teller> teller_;  // calls it in place of the keeper
  std::map<std::string, std::unique_ptr<env::PassedByte>> passed_;
};

}  // namespace tenure::local
