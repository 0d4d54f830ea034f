// Slots: writing a claim into one. Inside the section of its bucket.
#pragma once

#include <initializer_list>

#include "engine/local/buckets.h"
#include "engine/local/snapshot.h"
#include "engine/local/words_of.h"

namespace tenure::local {

// A claim, as it goes into a slot or a node.
struct Claim {
  std::uint64_t counter = 0;  // of its id; the first half is core.nonce
  std::uint64_t terms = 0;    // packed()
  std::uint64_t ttl = 0;      // nanoseconds
  CellIndex text = 0;
  std::uint16_t flags = 0;
};

// The instants of a grant, read before the section.
struct Now {
  std::int64_t wall = 0, monotonic = 0, boot = 0;
};

// A cell of ours becomes the slot of a key that has none, held by us. `rest`: the text of the rest of a long key.
inline void make_slot(Core& core, Section& section, CellIndex index, const Wanted& wanted, CellIndex rest,
                      const Claim& claim, Epoch epoch, const Now& now) noexcept;
// The same, offered to nobody: for those who hold it together.
inline void make_offered_slot(Core& core, Section& section, CellIndex index, const Wanted& wanted, CellIndex rest,
                              Epoch epoch) noexcept;
// An offered slot becomes ours under the epoch that it has.
inline void hold_slot(Core& core, Cell& slot, const Claim& claim, const Now& now) noexcept;

// ---- the bodies, inline for the short way ---------------------------------------------------------------------------

inline void write_claim(const Core& core, Cell& slot, const Claim& claim, const Now& now) noexcept {
  using namespace slot_field;
  const auto put = [&](std::size_t field, std::uint64_t value) {
    slot.body[field].store(value, std::memory_order_relaxed);
  };
  put(kNonce, core.nonce);
  put(kCounter, claim.counter);
  put(kSince, static_cast<std::uint64_t>(now.wall));
  put(kTtl, claim.ttl);
  put(kMonotonic, static_cast<std::uint64_t>(now.monotonic));
  put(kBoot, static_cast<std::uint64_t>(now.boot));
  put(kGuard, 0);
  put(kTerms, claim.terms);
  const std::uint64_t length = slot.body[kText].load(std::memory_order_relaxed) >> 48;
  put(kText, length << 48 | std::uint64_t{claim.flags} << 32 | claim.text);
}

inline std::uint64_t held_word(const Core& core) noexcept {
  return CommitWord{Kind::slot, static_cast<std::uint8_t>(SlotState::held), core.me}.packed();
}

// A cell of ours, filled for a key that has no slot; nobody holds it.
inline void fill_slot(Core& core, Section& section, CellIndex index, const Wanted& wanted, CellIndex rest,
                      Epoch epoch) noexcept {
  using namespace slot_field;
  Cell& slot = core.table.cell(index);
  slot.next.store(0, std::memory_order_relaxed);
  slot.home.store(section.bucket_index(), std::memory_order_relaxed);
  slot.futex.store(0, std::memory_order_relaxed);
  slot.owner.store(0, std::memory_order_relaxed);
  slot.body[kEpoch].store(epoch.value(), std::memory_order_relaxed);
  slot.body[kLine].store(0, std::memory_order_relaxed);
  slot.body[kHash].store(wanted.hash, std::memory_order_relaxed);
  slot.body[kKeyRest].store(rest, std::memory_order_relaxed);
  slot.body[kText].store(std::uint64_t{wanted.key.size()} << 48, std::memory_order_relaxed);
  write_bytes(&slot.body[kKey], wanted.key.substr(0, kInlineKey));
}

inline void make_slot(Core& core, Section& section, CellIndex index, const Wanted& wanted, CellIndex rest,
                      const Claim& claim, Epoch epoch, const Now& now) noexcept {
  Cell& slot = core.table.cell(index);
  fill_slot(core, section, index, wanted, rest, epoch);
  write_claim(core, slot, claim, now);
  TENURE_POINT("slot filled");
  slot.word.store(held_word(core), std::memory_order_release);
  TENURE_POINT("slot held");
  link_slot(core, section.bucket(), index);
  TENURE_POINT("slot linked");
}

inline void make_offered_slot(Core& core, Section& section, CellIndex index, const Wanted& wanted, CellIndex rest,
                              Epoch epoch) noexcept {
  using namespace slot_field;
  Cell& slot = core.table.cell(index);
  fill_slot(core, section, index, wanted, rest, epoch);
  for (const std::size_t field : {kTtl, kGuard, kTogether}) slot.body[field].store(0, std::memory_order_relaxed);
  slot.word.store(CommitWord{Kind::slot, static_cast<std::uint8_t>(SlotState::offered), {}}.packed(),
                  std::memory_order_release);
  TENURE_POINT("offered slot in being");
  link_slot(core, section.bucket(), index);
}

inline void hold_slot(Core& core, Cell& slot, const Claim& claim, const Now& now) noexcept {
  write_claim(core, slot, claim, now);
  TENURE_POINT("grant filled");
  slot.word.store(held_word(core), std::memory_order_release);
  TENURE_POINT("grant taken up");
}

}  // namespace tenure::local
