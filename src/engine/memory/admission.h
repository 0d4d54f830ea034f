// Admission: may this claim have the key beside, or in place of, those who hold it?
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/memory/viewer.h"

namespace tenure::memory {

struct Admission {
  bool granted = false;
  // What decided: of a refusal, the verdict on the holder who stands in the way.
  rules::ClaimVerdict verdict;
  std::optional<std::size_t> blocker;  // index of that holder
  std::optional<std::size_t> own;      // the holding that a re-claim replaces
  std::vector<std::size_t> displaced;  // those that a takeover ends, ascending
  bool other_number = false;           // refused: they hold it as another number of slots
};

// The line is not asked here: whoever is first in it is.
Admission admit(const Slot& slot, const ClaimRequest& request, const Viewer& viewer);

// The lowest slot that none of them has.
std::uint32_t free_number(const Slot& slot);

// The same process and part hold it already: such a claim does not wait behind others for what it has.
bool is_reclaim(const Slot& slot, const ClaimRequest& request, const Viewer& viewer);

}  // namespace tenure::memory
