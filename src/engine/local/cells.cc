#include "engine/local/cells.h"

#include <algorithm>
#include <bit>

#include "engine/local/fault_point.h"
#include "engine/local/membership.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

// The longest labels, reason, command and folder together take 45, as many requests as may be 55, as many that have
// their answer 30, an offer 2.
constexpr std::size_t kMaxTextCells = 160;

bool claim_cell(Core& core, CellIndex cell) {
  std::uint64_t free = 0;
  const std::uint64_t cached = CommitWord{Kind::cached, 0, core.me}.packed();
  return core.table.cell(cell).word.compare_exchange_strong(free, cached, std::memory_order_acq_rel);
}

// One that the bitmap calls free; 0: it knows none.
CellIndex search(Core& core) {
  const auto bitmap = core.table.bitmap();
  const std::size_t begin = core.table.header().cell_hint.load(std::memory_order_relaxed) % bitmap.size();
  for (std::size_t step = 0; step < bitmap.size(); ++step) {
    const std::size_t at = (begin + step) % bitmap.size();
    Word64& word = bitmap[at];
    for (std::uint64_t seen = word.load(std::memory_order_relaxed); seen != 0;) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(seen));
      const std::uint64_t before = word.fetch_and(~(std::uint64_t{1} << bit), std::memory_order_acq_rel);
      seen = before & ~(std::uint64_t{1} << bit);
      if ((before >> bit & 1) == 0) continue;
      const auto cell = static_cast<CellIndex>(at * 64 + bit);
      if (cell == 0 || cell > core.table.last_cell() || !claim_cell(core, cell)) continue;
      if (at != begin) core.table.header().cell_hint.store(static_cast<std::uint32_t>(at), std::memory_order_relaxed);
      return cell;
    }
  }
  return 0;
}

void mark_free(const Table& table, CellIndex cell) {
  table.bitmap()[cell / 64].fetch_or(std::uint64_t{1} << (cell % 64), std::memory_order_release);
}

// Twice as many cells, as far as the limit goes. False: it is reached.
Result<bool> grow(Core& core) {
  const Table& table = core.table;
  const CellIndex ready = table.last_cell();
  if (ready >= table.limits().cells) return false;
  const CellIndex wanted = std::min(ready * 2, table.limits().cells);
  if (auto allocated = core.memory->allocate(table.places().up_to(wanted)); !allocated) {
    Error error = allocated.error();
    error.message = "the space at " + core.folder->path() + " cannot grow beyond " + std::to_string(ready) +
                    " cells: " + error.message;
    return fail(std::move(error));
  }
  CellIndex expected = ready;
  if (table.header().ready_cells.compare_exchange_strong(expected, wanted, std::memory_order_acq_rel)) {
    for (CellIndex cell = ready + 1; cell <= wanted; ++cell) mark_free(table, cell);
    table.header().cell_hint.store((ready + 1) / 64, std::memory_order_relaxed);
  }
  return true;
}

Error full(const Core& core) {
  return Error{
      Code::limit_reached,
      "the space at " + core.folder->path() + " is full: all " + std::to_string(core.table.limits().cells) +
          " cells are taken by keys that are held or waited for",
      "release some (tenure ls shows them), or end its users and make it anew with room for more: tenure space "
      "init --keys " +
          std::to_string(std::size_t{core.table.limits().cells} * 2),
      nullptr};
}

}  // namespace

void find_lost_cells(Core& core) {
  for (CellIndex cell = 1; cell <= core.table.last_cell(); ++cell) {
    if (core.table.cell(cell).word.load(std::memory_order_acquire) == 0) mark_free(core.table, cell);
  }
}

Result<CellIndex> take_cell(Core& core) {
  if (const CellIndex cell = core.pockets.take(); cell != 0) return cell;
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (const CellIndex cell = search(core); cell != 0) return cell;
    auto grown = grow(core);
    if (!grown) return fail(grown.error());
    if (*grown) continue;
    clear_dead_members(core);
    find_lost_cells(core);
  }
  if (const CellIndex cell = search(core); cell != 0) return cell;
  return fail(full(core));
}

void give_cell(Core& core, CellIndex cell) {
  if (!core.pockets.put(cell)) drop_cell(core, cell);
}

void drop_cell(Core& core, CellIndex cell) {
  core.table.cell(cell).word.store(0, std::memory_order_release);
  mark_free(core.table, cell);
}

Result<CellIndex> store_text(Core& core, std::string_view text) {
  CellIndex first = 0;
  // From the back, so that each cell knows the next one when it is written.
  std::size_t left = text.size();
  while (left > 0) {
    const std::size_t length = (left - 1) % kTextBytes + 1;
    auto taken = take_cell(core);
    if (!taken) {
      give_text(core, first);
      return taken;
    }
    Cell& cell = core.table.cell(*taken);
    write_bytes(cell.body.data(), text.substr(left - length, length));
    cell.futex.store(static_cast<std::uint32_t>(length), std::memory_order_relaxed);
    cell.next.store(first, std::memory_order_relaxed);
    cell.word.store(CommitWord{Kind::text, 0, core.me}.packed(), std::memory_order_release);
    first = *taken;
    left -= length;
  }
  return first;
}

void give_text(Core& core, CellIndex first) {
  for (std::size_t count = 0; first != 0 && first <= core.table.last_cell() && count < kMaxTextCells; ++count) {
    Cell& cell = core.table.cell(first);
    const CellIndex next = cell.next.load(std::memory_order_relaxed);
    cell.word.store(CommitWord{Kind::cached, 0, core.me}.packed(), std::memory_order_release);
    give_cell(core, first);
    first = next;
  }
}

std::string load_text(const Table& table, CellIndex first) {
  std::string text;
  const CellIndex last = table.last_cell();
  for (std::size_t count = 0; first != 0 && first <= last && count < kMaxTextCells; ++count) {
    const Cell& cell = table.cell(first);
    const std::size_t length = std::min<std::size_t>(cell.futex.load(std::memory_order_relaxed), kTextBytes);
    text += read_bytes(cell.body.data(), length);
    first = cell.next.load(std::memory_order_relaxed);
  }
  return text;
}

CellIndex adopt_text(Core& core, CellIndex first) noexcept {
  CellIndex before = 0;
  CellIndex at = first;
  for (std::size_t count = 0; at != 0 && at <= core.table.last_cell() && count < kMaxTextCells; ++count) {
    Cell& cell = core.table.cell(at);
    std::uint64_t word = cell.word.load(std::memory_order_acquire);
    const bool text = CommitWord::unpacked(word).kind == Kind::text;
    if (!text || !cell.word.compare_exchange_strong(word, CommitWord{Kind::text, 0, core.me}.packed())) {
      if (before == 0) return 0;
      core.table.cell(before).next.store(0, std::memory_order_relaxed);
      return first;
    }
    TENURE_POINT("text adopted");
    before = at;
    at = cell.next.load(std::memory_order_relaxed);
  }
  return first;
}

void disown_text(Core& core, CellIndex first) noexcept {
  for (std::size_t count = 0; first != 0 && count < kMaxTextCells; ++count) {
    core.table.cell(first).word.store(CommitWord{Kind::text, 0, {}}.packed(), std::memory_order_relaxed);
    TENURE_POINT("text disowned");
    first = core.table.cell(first).next.load(std::memory_order_relaxed);
  }
}

}  // namespace tenure::local
