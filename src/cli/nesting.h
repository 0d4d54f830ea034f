// A `run` inside the command of another `run`.
//
// A run tells its command what it holds, and what those around it hold, in TENURE_HOLDS: "EPOCH KEY URL" with KEY and
// URL percent-encoded, one after the other, separated by semicolons. A variable is inherited by much that does not run
// inside (a terminal multiplexer, an editor that was started there), so it counts only for whom comes of the holder,
// and only while that very epoch is held.
#pragma once

#include <optional>
#include <string>

#include "cli/observation_view.h"
#include "tenure/space.h"

namespace tenure::cli {

inline constexpr char kHoldsVariable[] = "TENURE_HOLDS";

// The value of the variable for a command that runs under this lease too. `before`: its value without it.
std::string holds_with(const std::string& before, const Lease& lease, const std::string& url);
// Its value around us.
std::string holds_before();

enum class Nesting : unsigned char {
  none,       // the holder is not around us
  within,     // we run inside the holder's command, and it told us so
  unasked,    // the holder started us, but did not say that its lease is for us
  unseen,     // the variable names this lease, and whether we run inside cannot be seen: there is no /proc
  elsewhere,  // the variable names this lease, but we do not run inside
};
struct Around {
  Nesting nesting = Nesting::none;
  OneHolder holder;  // which of those who hold it; valid while the observation is
};
// How we stand to those who hold a key: to the one that is closest to us.
Around nesting_in(const Observation& seen, const std::string& url);

// Whether a lease of those terms does for who would claim these: it is as exclusive, or one of the same slots. One
// alone has no slots to give.
bool covers(const Holder& held, const Terms& wanted);

// We hold something, by a run around us or (`holding`) ourselves, that the holder of `wanted` (or whom it waits for,
// and so on) waits for: then waiting for `wanted` would never end. In words: "deploy is held by pid 7, which waits for
// db, which you hold". Where the engine does not show who waits, nothing is found.
std::optional<std::string> circle_of(const Space& space, const Observation& wanted, bool holding);

}  // namespace tenure::cli
