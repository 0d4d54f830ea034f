// Look: everything that one glance at the lease finds, judged. Reads only; takes no guard.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/receiver/core.h"
#include "model/receiver_record.h"
#include "model/receiver_sidecar.h"
#include "rules/ownership.h"
#include "tenure/holder.h"

namespace tenure::receiver {

struct Look {
  std::shared_ptr<env::Directory> folder;  // the lease's, open, wherever it is moved
  FileIdentity identity;                   // of whatever lies under receiver.lock
  std::optional<ReceiverOwner> owner;
  std::optional<ReceiverSidecar> sidecar;
  std::string damage;                      // why owner.json cannot be read; empty when it can, or nothing is there
  std::optional<ReceiverProcess> remains;  // of a damaged one, what names a process
  std::string note;                        // of a sidecar that cannot be read
  rules::Occupant occupant;
  bool elsewhere = false;

  bool nobody() const { return occupant.kind == rules::Occupant::Kind::nobody; }
  Epoch epoch() const { return sidecar ? sidecar->epoch : Epoch{}; }
  std::string generation() const {
    if (owner) return owner->process.generation;
    return sidecar ? sidecar->generation : "damaged";
  }
};

// A lease that comes and goes meanwhile is looked at anew: a healthy hand-off is never called damage.
Result<Look> look(const Core& core);

// The word by which pi-amq refuses what is not free: "held", "remote-owner", "unverifiable-owner", "corrupt-owner";
// "stale" for what it would reclaim.
std::string pi_word(const Look& look);

Observation observe(const Core& core, const Look& look);

}  // namespace tenure::receiver
