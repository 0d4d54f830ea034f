// Who lives: what is gathered about the process of a record, and the verdict of the rules on it.
#pragma once

#include "engine/receiver/core.h"
#include "model/receiver_record.h"
#include "model/receiver_sidecar.h"
#include "rules/receiver.h"

namespace tenure::receiver {

// Of a record that says nothing but what pi-amq writes.
rules::ReceiverVerdict judge_record(const Core& core, const ReceiverProcess& recorded);

// Of a guard or an intent that lies under `name` in `folder`: ours are locked by their makers.
rules::ReceiverVerdict judge_paper(const Core& core, env::Directory& folder, const std::string& name,
                                   FileIdentity identity, const ReceiverProcess& recorded);

// Of the lease in `folder`. Without a sidecar of ours by its owner.json alone.
rules::ReceiverVerdict judge_lease(const Core& core, env::Directory& folder, const ReceiverProcess& recorded,
                                   const std::optional<ReceiverSidecar>& sidecar);

}  // namespace tenure::receiver
