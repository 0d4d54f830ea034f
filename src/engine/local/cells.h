// Cells: taking and giving back, and texts in them. Not called inside a section, but where it says so: taking may grow
// the table.
#pragma once

#include <string>
#include <string_view>

#include "engine/local/core.h"

namespace tenure::local {

// A cell whose commit word says `cached` by us. Code::limit_reached when the space is full, Code::no_space when it
// cannot grow.
Result<CellIndex> take_cell(Core& core);
// Ours (cached) becomes nobody's, or stays in a pocket.
void give_cell(Core& core, CellIndex cell);
// Nobody's at once.
void drop_cell(Core& core, CellIndex cell);

// Writes `text` into fresh cells; the first of them, or 0 for an empty text.
Result<CellIndex> store_text(Core& core, std::string_view text);
// All cells from `first` on; whoever wrote them. Only what nobody refers to any more.
void give_text(Core& core, CellIndex first);
// As found: the caller checks that nothing changed meanwhile.
std::string load_text(const Table& table, CellIndex first);
// They are ours from now on, but for those that somebody who clears up after their dead member took first. The first of
// ours, or 0. Safe inside a section.
CellIndex adopt_text(Core& core, CellIndex first) noexcept;
// They are no member's from now on: the rest of a key belongs to its slot, the text of a kept ticket to its node.
void disown_text(Core& core, CellIndex first) noexcept;

// Puts into the bitmap what it lost when somebody died between taking a bit and its cell.
void find_lost_cells(Core& core);

}  // namespace tenure::local
