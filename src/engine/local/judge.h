// Judge: who holds, whether it lives, and what may be done about it; asks the ports, writes nothing, and is never
// called inside a section. What it finds is looked at again in the section before anything is done: see advance.h.
#pragma once

#include <optional>
#include <vector>

#include "engine/engine.h"
#include "engine/local/membership.h"
#include "engine/local/snapshot.h"
#include "rules/ownership.h"

namespace tenure::local {

Holder holder_of(const Core& core, const SlotView& slot);
// Of an offered key: whom it is offered to.
Holder holder_of(const Core& core, const NodeView& node);

// The verdict on a lease by all its proofs: over only when every one is.
Verdict judge_holding(Core& core, const SlotView& slot, Care care);
// What a text names beside the member: live, unknown, or dead when all of it is over.
Verdict further_proofs(Core& core, const std::string& text);

rules::Occupant occupant_of(Core& core, const SlotView& slot, Care care);
bool guarded(const Core& core, const SlotView& slot);

// How the key stands.
Observation observe(Core& core, const Key& key, const std::optional<SlotView>& slot, Care care);
// The same where it is known already who occupies it.
Observation observe(Core& core, const Key& key, const std::optional<SlotView>& slot, const rules::Occupant& occupant);

// What was found, pinned to what it was found of.
struct Facts {
  struct Over {
    CellIndex slot = 0;
    std::uint64_t word = 0;
    std::uint64_t epoch = 0;
    EventKind kind = EventKind::taken_over;
    std::string why;
  };
  struct Node {
    CellIndex node = 0;
    std::uint64_t word = 0;
    std::uint64_t arrival = 0;
    bool dead = false;  // else: it does not stir, and what it was granted goes on to another
  };
  std::optional<Over> over;
  rules::Occupant occupant;  // of a slot that is held
  std::vector<Node> nodes;
  bool none() const { return !over && nodes.empty(); }
};
// `patience`: how long an offer may go unanswered by somebody who is not seen to be stopped.
Facts judge(Core& core, const SlotView& slot, Care care, Duration patience);

}  // namespace tenure::local
