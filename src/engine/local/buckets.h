// Buckets: which cell is the slot of a key. Everything here is called inside the section of the bucket.
#pragma once

#include <string_view>

#include "engine/local/hash.h"
#include "engine/local/section.h"

namespace tenure::local {

// A key as it is looked for: hashed once.
struct Wanted {
  explicit Wanted(std::string_view text) : key(text), hash(hash_of(text)) {}
  std::string_view key;
  std::uint64_t hash;
};

// 0: the key has no slot.
CellIndex find_slot(const Core& core, const Bucket& bucket, const Wanted& wanted) noexcept;
// Links a slot whose commit word is written; takes one out whose word no longer says slot.
void link_slot(const Core& core, Bucket& bucket, CellIndex slot) noexcept;
void unlink_slot(const Core& core, Bucket& bucket, CellIndex slot) noexcept;

// Makes entries and lines anew from the commit words, and finishes what its owner died over.
void repair_bucket(Core& core, const Section& section);

}  // namespace tenure::local
