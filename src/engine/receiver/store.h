// Store: the lease as this process uses it, and the verbs that change it. Each verb has a file of its own.
//
// Every change is made inside the guard: look, decide, write. A lease is made whole in a folder of its own and then
// renamed into place, so that nobody ever sees half of one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "engine/guarding.h"
#include "engine/receiver/core.h"
#include "engine/receiver/epochs.h"
#include "engine/receiver/guard.h"
#include "engine/receiver/look.h"
#include "engine/receiver/pass.h"

namespace tenure::receiver {

// What this process holds: the current claim alone, since the namespace has one key.
struct Held {
  ClaimId claim;
  Epoch epoch;
  Pass pass;                // with the life lock
  ReceiverSidecar sidecar;  // so that it can be written again
};

class Store {
 public:
  Store(std::shared_ptr<env::Directory> folder, env::Environment environment, ReceiverOptions options, Traits traits);

  // claim.cc
  Result<Grant> claim(const ClaimRequest& request, const Stop* stop, Duration at_most);
  // keep.cc
  Result<Renewal> renew(const ClaimRef& claim);
  Result<Renewal> beat(const ClaimRef& claim);
  Result<Standing> verify(const ClaimRef& claim);
  // give_back.cc
  Result<Released> release(const ClaimRef& claim);
  Result<Revoked> revoke(const RevokeRequest& request);
  // guarded.cc
  Result<void> guard(const GuardRequest& request, const Guarded& operation);

  Result<Observation> holder(const Key& key);
  Result<std::vector<Observation>> list(const std::string& prefix);

  const Core& core() const { return core_; }
  const Traits& traits() const { return traits_; }
  // Code::wrong_process in a forked child.
  Result<void> check_process() const;
  // Of whatever changes the lease: also not from within an operation under its guard.
  Result<void> check_change(const Key& key) const;

 private:
  // A guard, with what it stands on: the pass of the lease that we hold, or a draft made for this call.
  struct Entered {
    std::optional<Held> held;
    std::unique_ptr<Draft> draft;
    std::optional<Guard> guard;
    const Pass& pass() const { return held ? held->pass : draft->pass(); }
  };
  Result<std::unique_ptr<Entered>> enter(const std::optional<ClaimRef>& claim, const Bound& bound);

  // claim.cc
  class Prepared;
  Result<Grant> claim_with(const ClaimRequest& request, Prepared& prepared, const Bound& bound);
  Result<void> fill(const ClaimRequest& request, Prepared& prepared) const;
  rules::ClaimVerdict decide(const ClaimRequest& request, const Look& look) const;
  Result<Grant> grant(const ClaimRequest& request, Prepared& prepared, const Look& look,
                      const rules::ClaimVerdict& verdict);
  Result<Grant> claim_again(const ClaimRequest& request, const Bound& bound);
  ReceiverSidecar sidecar_of(const ClaimRequest& request, const std::string& generation, const ClaimId& claim,
                             Epoch epoch, FileIdentity life) const;
  Result<std::string> quarantine(const Look& look);
  Result<void> move_lease(const Look& look, env::Directory& into, const std::string& name);
  std::unexpected<Error> refused(const Look& look, const rules::ClaimVerdict& verdict) const;

  // Code::lost when the folder was moved: nobody who opens its path sees our lease any more.
  Result<void> check_place(const Key& key) const;
  // nullopt: it is not the current one, or cannot be seen at a glance.
  std::optional<Look> glance(const std::optional<ClaimId>& claim, Epoch epoch) const;
  Result<Look> current(const Key& key, const std::optional<ClaimId>& claim, Epoch epoch);
  // Whether the lease there is the one that we hold, whatever became of its records: our lock lies in it.
  bool lies_there(const Held& held) const;
  // Writes the sidecar again, after a cleaner or a bad disk.
  Result<void> restore(const ClaimRef& claim);
  std::unexpected<Error> lost(const Key& key, Epoch epoch, const Look& look, const std::string& why);
  // Takes the lease away and deletes it; inside the guard.
  Result<void> discard(const Look& look, const ClaimId& claim);
  Result<void> write_revocation(const std::string& reason, bool forced, const Observation& was);
  guarding::Place place() const { return {core_.root->path(), core_.environment.processes->self().identity}; }
  Error given_up(const ClaimRef& claim, Error error);
  bool guards_itself(const ClaimRef& claim);
  void give_up_guarded(const Look& now);

  std::optional<Held> held(const ClaimRef& claim);
  void keep_held(Held held);
  void drop_held(const ClaimId& claim);

  const Core core_;
  const Traits traits_;
  std::mutex mutex_;
  std::optional<Held> held_;
};

// Deletes a folder of plain files, as a lease is one. What else lies in it stays, and so does the folder.
Result<void> remove_folder(env::Directory& parent, const std::string& name);

// sweep.cc: clears away what the dead left behind, a few things at a time; inside the guard. What cannot be cleared
// stays.
void sweep(const Core& core);

}  // namespace tenure::receiver
