// The epoch counter of a namespace: two slots in one file, written in turn, so that a write cut short by a loss of
// power leaves the other whole. Used inside the guard alone.
#pragma once

#include <optional>

#include "engine/receiver/core.h"
#include "model/receiver_sidecar.h"
#include "rules/ownership.h"

namespace tenure::receiver {

class Epochs {
 public:
  // Reads the counter. Code::epoch_unreadable is not said here, but by next().
  static Result<Epochs> read(const Core& core);

  // Above every epoch that was given here: the counter's, and that of the lease at hand. `first_use`: nobody was here
  // before. See rules::next_epoch.
  Result<rules::NextEpoch> next(Epoch of_lease, bool first_use) const;
  // What an operator's repair goes on from.
  Result<rules::NextEpoch> repaired(Epoch of_lease) const;
  // Durable on return. Takes no new room on the disk but for the first time.
  Result<void> write(Epoch epoch);

  bool missing() const { return !file_ && !damaged_; }
  // Neither slot can be read.
  bool unreadable() const { return damaged_ || (file_ && !first_ && !second_); }
  Epoch highest() const;

 private:
  explicit Epochs(const Core& core) : core_(&core) {}
  rules::EpochSources sources(Epoch of_lease, bool first_use) const;
  bool copied() const;

  const Core* core_;
  std::uint64_t folder_ = 0;
  std::optional<env::FileContent> file_;
  bool damaged_ = false;  // what lies there is no file that can be read
  std::optional<EpochSlot> first_, second_;
};

}  // namespace tenure::receiver
