// Snapshot: a key as the table has it at one instant, read without its section: by a sequence, again while it changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/local/buckets.h"
#include "tenure/handle.h"
#include "tenure/terms.h"

namespace tenure::local {

struct NodeView {
  CellIndex index = 0;
  CommitWord word;
  std::uint64_t arrival = 0;
  ClaimId claim;
  Terms terms;
  std::uint16_t flags = 0;
  std::uint64_t offered_at = 0;  // monotonic
  std::int64_t since = 0;        // wall
  std::string text;
};

// A lease: of a slot that is held alone, or of one of those who hold a key together.
struct HoldingView {
  CellIndex index = 0;
  CommitWord word;
  Epoch epoch;
  ClaimId claim;
  std::int64_t since = 0;                // wall
  std::int64_t monotonic = 0, boot = 0;  // of the last extension, with a TTL
  std::uint64_t guard = 0;               // see guards.h
  Terms terms;
  std::uint16_t flags = 0;
  std::uint32_t number = 0;  // of its slot, with several
  CellIndex text_at = 0;
  std::string text;
};

struct SlotView : HoldingView {
  std::string key;
  CellIndex grantee = 0;
  std::uint32_t waiting = 0;
  std::vector<NodeView> line;         // the first kShownLine of it, and the grantee wherever it stands
  std::vector<HoldingView> together;  // all of them, in the order of their grants

  // Alone.
  bool held() const { return word.state == static_cast<std::uint8_t>(SlotState::held); }
};

inline constexpr std::size_t kShownLine = 64;

// nullopt: the key has no slot. Code::section_busy when it changes all the time, or is held up by a member that is
// stopped inside.
Result<std::optional<SlotView>> read_key(Core& core, std::string_view key);
// The lease of that claim, wherever it lies: alone in the slot, or among those who hold the key together. nullopt: it
// has none (any more).
Result<std::optional<HoldingView>> read_lease(Core& core, std::string_view key, const ClaimId& claim, Epoch epoch);
// The slot in that cell; nullopt: it is none.
Result<std::optional<SlotView>> read_slot(Core& core, CellIndex slot);

// The very holding that was looked at. Inside its section.
inline bool is_same(const Cell& slot, const HoldingView& seen) noexcept {
  return slot.word.load(std::memory_order_relaxed) == seen.word.packed() &&
         slot.body[slot_field::kEpoch].load(std::memory_order_relaxed) == seen.epoch.value();
}

ClaimId claim_id(std::uint64_t nonce, std::uint64_t counter);
std::uint64_t packed(const Terms& terms);
Terms terms_from(std::uint64_t packed, std::uint64_t ttl);

}  // namespace tenure::local
