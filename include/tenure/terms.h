// Terms: what a claimant asks for, beside the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tenure/time.h"

namespace tenure {

// shared: beside other shared ones, and never beside an exclusive one. At most 1,024 hold a key together. A claim that
// waits keeps later ones behind it, so readers do not starve a writer: it is next once those who read already are gone.
// The same process, owner and part claiming exclusively what it holds shared waits, ahead of the line, for the others
// to go, and keeps reading meanwhile; a second one that wants the same is refused with Code::would_deadlock.
enum class Mode : std::uint8_t { exclusive, shared };

// What should happen to the work when the lease is lost. The library only records it and tells the holder; `tenure
// run` acts on it.
enum class AtLoss : std::uint8_t { terminate, kill, warn };

struct Terms {
  Mode mode = Mode::exclusive;
  // How many may hold at once, 1 to 1,024; 1 is sole ownership. Those who hold have the same number: a claim with
  // another is refused with Code::slots_differ, because one side must be mistaken. Not with Mode::shared.
  // An engine refuses, by its traits, what it cannot do.
  std::uint32_t slots = 1;
  // A hard limit that the holder asks for itself: past it others may take the key even while the holder lives. The
  // holder extends it with renew(). Without one, a lease lasts as long as its holder is not proven dead.
  std::optional<Duration> ttl;
  // Why; shown to everybody who meets the lease. At most 1,024 bytes of UTF-8.
  std::string reason;
  AtLoss at_loss = AtLoss::terminate;

  friend bool operator==(const Terms&, const Terms&) = default;
};

}  // namespace tenure
