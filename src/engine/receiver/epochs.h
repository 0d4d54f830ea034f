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
  // Reads the counter. Code::epoch_unreadable is not said here, but by next(). One that may not be read is an error, or
  // for who repairs by force, damage.
  static Result<Epochs> read(const Core& core, bool by_force = false);

  // Above every epoch that was given here: the counter's, and that of the lease at hand. Where there is no counter it
  // begins with the clock, in microseconds, so that a folder that was removed and made anew repeats none. See
  // rules::next_epoch.
  Result<rules::NextEpoch> next(Epoch of_lease) const;
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
  rules::EpochSources sources(Epoch of_lease) const;
  // Nothing says that the number in a sidecar was not changed: one far beyond the counter and the clock is not
  // believed.
  bool credible(Epoch of_lease) const;
  // Where the counter cannot be read: the highest in what else is kept.
  Epoch in_evidence() const;
  bool copied() const;

  const Core* core_;
  std::uint64_t folder_ = 0;
  std::optional<env::FileContent> file_;
  bool damaged_ = false;  // what lies there is no file that can be read
  std::optional<EpochSlot> first_, second_;
};

}  // namespace tenure::receiver
