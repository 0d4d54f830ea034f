#include "engine/local/buckets.h"

#include "engine/local/cells.h"
#include "engine/local/words_of.h"

namespace tenure::local {
namespace {

std::uint16_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint16_t>(hash >> 48);
}

bool is_slot_of(const Table& table, CellIndex index, const Wanted& wanted) {
  const Cell& cell = table.cell(index);
  if (cell.body[slot_field::kHash].load(std::memory_order_relaxed) != wanted.hash) return false;
  const std::uint64_t text = cell.body[slot_field::kText].load(std::memory_order_relaxed);
  if ((text >> 48) != wanted.key.size()) return false;
  const std::string_view head = wanted.key.substr(0, kInlineKey);
  if (!same_bytes(&cell.body[slot_field::kKey], head)) return false;
  if (wanted.key.size() <= kInlineKey) return true;
  // Read without allocating.
  std::string_view rest = wanted.key.substr(kInlineKey);
  CellIndex at = low(cell.body[slot_field::kKeyRest].load(std::memory_order_relaxed));
  while (!rest.empty() && at != 0 && at <= table.last_cell()) {
    const std::string_view here = rest.substr(0, kTextBytes);
    if (!same_bytes(table.cell(at).body.data(), here)) return false;
    rest.remove_prefix(here.size());
    at = table.cell(at).next.load(std::memory_order_relaxed);
  }
  return rest.empty();
}

}  // namespace

CellIndex find_slot(const Core& core, const Bucket& bucket, const Wanted& wanted) noexcept {
  const std::uint16_t tag = tag_of(wanted.hash);
  for (std::size_t i = 0; i < kEntries; ++i) {
    const CellIndex index = bucket.entries[i].load(std::memory_order_relaxed);
    if (index == 0 || bucket.tags[i].load(std::memory_order_relaxed) != tag) continue;
    if (is_slot_of(core.table, index, wanted)) return index;
  }
  CellIndex index = bucket.overflow.load(std::memory_order_relaxed);
  for (std::uint32_t step = 0; index != 0 && step < core.table.limits().cells; ++step) {
    if (is_slot_of(core.table, index, wanted)) return index;
    index = core.table.cell(index).next.load(std::memory_order_relaxed);
  }
  return 0;
}

void link_slot(const Core& core, Bucket& bucket, CellIndex slot) noexcept {
  Cell& cell = core.table.cell(slot);
  for (std::size_t i = 0; i < kEntries; ++i) {
    if (bucket.entries[i].load(std::memory_order_relaxed) != 0) continue;
    bucket.tags[i].store(tag_of(cell.body[slot_field::kHash].load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
    bucket.entries[i].store(slot, std::memory_order_relaxed);
    return;
  }
  cell.next.store(bucket.overflow.load(std::memory_order_relaxed), std::memory_order_relaxed);
  bucket.overflow.store(slot, std::memory_order_relaxed);
}

void unlink_slot(const Core& core, Bucket& bucket, CellIndex slot) noexcept {
  for (auto& entry : bucket.entries) {
    if (entry.load(std::memory_order_relaxed) != slot) continue;
    entry.store(0, std::memory_order_relaxed);
    return;
  }
  Word32* link = &bucket.overflow;
  for (CellIndex at = link->load(std::memory_order_relaxed); at != 0; at = link->load(std::memory_order_relaxed)) {
    Cell& cell = core.table.cell(at);
    if (at == slot) {
      link->store(cell.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
      return;
    }
    link = &cell.next;
  }
}

}  // namespace tenure::local
