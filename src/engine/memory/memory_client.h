// MemoryEngine: Engine over a MemoryStore, for one client. Private to this folder; others use open_memory().
#pragma once

#include <mutex>

#include "engine/guarding.h"
#include "engine/memory/admission.h"
#include "engine/memory/memory_engine.h"
#include "engine/memory/viewer.h"

namespace tenure {

class MemoryEngine final : public Engine {
 public:
  MemoryEngine(std::shared_ptr<MemoryStore> store, env::Environment environment);

  const Traits& traits() const override { return traits_; }
  std::string location() const override { return "memory of process " + std::to_string(viewer_.self().pid); }

  // memory_claim.cc
  Result<Grant> try_claim(const ClaimRequest& request) override;
  Result<Grant> await(const ClaimRequest& request, const Wait& wait) override;

  // memory_engine.cc
  Result<Renewal> beat(const ClaimRef& claim) override;
  Result<Renewal> renew(const ClaimRef& claim) override;
  Result<Standing> verify(const ClaimRef& claim) override;
  Result<Released> release(const ClaimRef& claim) override;
  Result<Revoked> revoke(const RevokeRequest& request) override;
  Result<Observation> holder(const Key& key) override;
  // memory_guard.cc
  Result<void> guard(const GuardRequest& request, const Guarded& operation) override;
  // memory_asking.cc
  Result<Asked> ask(const AskRequest& request) override;
  Result<std::vector<Ask>> asks(const ClaimRef& claim) override;
  Result<bool> answer(const ClaimRef& claim, std::uint64_t id, Answer answer, const std::string& words) override;
  // memory_handing.cc
  Result<void> hand_off(const ClaimRef& claim, const HandOff& offer) override;
  Result<bool> withdraw_hand_off(const ClaimRef& claim) override;
  Result<Grant> adopt(const ClaimRequest& request) override;
  Result<std::vector<Observation>> list(const std::string& prefix) override;
  Result<std::unique_ptr<Changes>> changes() override;

 private:
  // The current claim, or the error that says what became of it; and how late it is.
  struct Current {
    memory::Slot& slot;
    memory::Holding& holding;
    std::optional<Duration> late_by;
  };

  Result<void> check_process() const;
  // Of whatever changes the key: also not from within an operation under its guard.
  Result<void> check_change(const Key& key) const;
  guarding::Place place() const;
  Result<ClaimId> fresh_claim() const;

  // All below: with the store's mutex held.
  Result<Current> current(const ClaimRef& claim);
  // The claim whose lease is to be guarded.
  Result<ClaimRef> guarded_claim(const GuardRequest& request);
  // A moment. False: it was waited for since `begun` for as long as may be.
  bool wait_for_guard(std::unique_lock<std::mutex>& lock, MonotonicTime begun);
  struct Guarding {
    ClaimRef claim;
    memory::Guard guard;
  };
  // Waits for one that runs. The lease is guarded on return.
  Result<Guarding> begin_guard(std::unique_lock<std::mutex>& lock, const GuardRequest& request);
  Error lost(const ClaimRef& claim, const memory::Slot* slot, const std::string& why) const;
  // Leases of whom an operation ran past its guard, or whose offer goes back to the line.
  void end_overdue(const Key& key, memory::Slot& slot);
  // Grants the key to those at the head of the line who may have it.
  void settle(const Key& key, memory::Slot& slot);
  // The evidence that the process of a waiting claim is dead, if it is.
  std::optional<std::string> death_of(const memory::Waiter& waiter) const;
  Result<Grant> grant(memory::Waiter& waiter, memory::Slot& slot, const memory::Admission& admission);
  Error refusal(const ClaimRequest& request, const memory::Slot& slot) const;
  Result<Epoch> next_epoch();
  // `number`: of its slot, with several.
  static memory::Holding holding_of(const ClaimRequest& request, const env::Environment& environment,
                                    std::optional<std::uint32_t> number, Grant& grant);

  Result<memory::Holding*> enter_asks(memory::Asker& asker, const AskRequest& request);
  Result<Asked> wait_for_answer(std::unique_lock<std::mutex>& lock, memory::Asker& asker, const ClaimRef& asked,
                                const Stop* stop);
  memory::Holding* holding_of(const ClaimRef& claim);
  // Of a lease: those past their deadline, or whose asker is dead, leave.
  void drop_stale_asks(memory::Holding& holding);
  Error not_offered(const ClaimRequest& request, const memory::Slot& slot) const;

  Result<Grant> wait_in_line(std::unique_lock<std::mutex>& lock, memory::Waiter& waiter, const Wait& wait);
  Result<memory::Slot*> enter_line(memory::Waiter& waiter);
  bool another_gives_up(const memory::Slot& slot, const ClaimRequest& request) const;
  void leave_line(const memory::Waiter& waiter);

  std::shared_ptr<MemoryStore> store_;
  env::Environment environment_;
  memory::Viewer viewer_;
  Traits traits_;
};

}  // namespace tenure
