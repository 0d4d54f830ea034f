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

Holder holder_of(const Core& core, const HoldingView& lease);
// Of an offered key: whom it is offered to.
Holder holder_of(const Core& core, const NodeView& node);

// The verdict on a lease by all its proofs: over only when every one is.
Verdict judge_holding(Core& core, const HoldingView& lease, Care care);
// What a text names beside the member: live, unknown, or dead when all of it is over.
Verdict further_proofs(Core& core, const std::string& text);

rules::Occupant occupant_of(Core& core, const HoldingView& lease, Care care);
// The same of a key: of who holds it alone, or whom it is offered to.
rules::Occupant occupant_of(Core& core, const SlotView& slot, Care care);

// How the key stands.
Observation observe(Core& core, const Key& key, const std::optional<SlotView>& slot, Care care);
// The same where it is known already who occupies it.
Observation observe(Core& core, const Key& key, const std::optional<SlotView>& slot, const rules::Occupant& occupant);

// What was found, pinned to what it was found of.
struct Facts {
  struct Over {
    CellIndex slot = 0;  // or the cell of a holding
    std::uint64_t word = 0;
    std::uint64_t epoch = 0;
    std::uint64_t guard = 0;
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
  std::vector<Over> together;  // of those who hold it together
  rules::Occupant occupant;    // of a slot that is held
  std::vector<Node> nodes;
  bool none() const { return !over && together.empty() && nodes.empty(); }
};
// `patience`: how long an offer may go unanswered by somebody who is not seen to be stopped.
Facts judge(Core& core, const SlotView& slot, Care care, Duration patience);

}  // namespace tenure::local
