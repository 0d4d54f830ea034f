// Together: those who hold a key side by side, readers or in slots. Each has a cell of its own, whose commit word is
// the truth; the list of them in the slot is derived, and a repair makes it anew. Everything here is called inside the
// section of the key's bucket, where not said otherwise.
#pragma once

#include "engine/local/advance.h"
#include "engine/local/slots.h"
#include "rules/sharing.h"

namespace tenure::local {

// Of a slot; outside of the section too, where what is read may be torn. 0, where it is held alone.
CellIndex first_together(const Cell& slot) noexcept;
std::uint32_t count_together(const Cell& slot) noexcept;
inline CellIndex next_together(const Cell& holding) noexcept {
  return holding.next.load(std::memory_order_relaxed);
}
std::uint32_t slot_number_of(const Cell& holding) noexcept;

// Whether a lease of these terms has room beside those who hold it together. `giving_up`: a holding that goes then;
// `kept`: places that are others'.
rules::Room room_in(const Core& core, const Cell& slot, const Terms& terms, CellIndex giving_up,
                    const Kept& kept = {}) noexcept;

// The holding that a claim in line gives up when it gets the key; 0: none, or it is gone.
CellIndex given_up_by(const Core& core, const Cell& node) noexcept;

// A cell of ours becomes a holding of the slot, which is offered, under the epoch that was drawn for it.
// `number`: of its slot; kNoNumber: the lowest that is free.
inline constexpr std::uint32_t kNoNumber = ~0U;
void add_holding(Core& core, CellIndex slot, CellIndex holding, const Claim& claim, Epoch epoch, const Now& now,
                 std::uint32_t number) noexcept;
// It holds no more. Its word becomes `cached` by us; its texts are returned, to be given back.
CellIndex end_together(Core& core, Cell& slot, CellIndex holding) noexcept;
// The same for somebody else's sake: says why in the ring, and whom to knock at.
void take_away_together(Core& core, CellIndex holding, EventKind kind, std::string_view why, Spent& spent);

// Ends that lease, held alone or together, and passes the key on. It is the one that was seen: is_same().
void end_lease(Core& core, const Section& section, const HoldingView& lease, EventKind kind, std::string_view why,
               Wakes& wakes, Spent& spent);

// For a repair: the list made anew.
void clear_together(Cell& slot) noexcept;
void link_holding(const Core& core, Cell& slot, CellIndex holding) noexcept;

}  // namespace tenure::local
