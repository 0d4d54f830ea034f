// Several keys at once: all or none.
#include <algorithm>

#include "base/text.h"
#include "lease/claim_order.h"
#include "lease/space_state.h"
#include "tenure/space.h"

namespace tenure {
namespace {

// As the store has them now: a loss may not have been pushed yet. The last one was granted just before.
Result<void> all_held(std::vector<Lease>& leases) {
  for (std::size_t i = 0; i + 1 < leases.size(); ++i) {
    auto held = leases[i].verify();
    if (held) continue;
    held.error().message =
        escape_controls(leases[i].key().text()) + " was lost while another key was waited for: " + held.error().message;
    return held;
  }
  return {};
}

}  // namespace

Result<std::vector<Lease>> Space::claim_all(std::span<const Key> keys, const ClaimOptions& options) const {
  const auto order = lease::claim_order(keys);
  if (!order) return fail(order.error());
  const env::Clock& clock = *state_->environment().clock;
  const MonotonicTime begun = clock.monotonic();
  std::vector<Lease> got;
  for (const std::size_t number : *order) {
    ClaimOptions one = options;
    // A wait that ran out on the way stays a wait: what is refused then has timed out.
    if (options.wait && *options.wait > Duration{0}) {
      one.wait = std::max(*options.wait - (clock.monotonic() - begun), Duration{1});
    }
    auto lease = claim(keys[number], one);
    if (!lease) return fail(lease.error());
    got.push_back(std::move(*lease));
  }
  if (auto held = all_held(got); !held) return fail(held.error());
  std::vector<std::size_t> place(keys.size());
  for (std::size_t i = 0; i < order->size(); ++i) place[(*order)[i]] = i;
  std::vector<Lease> sorted;
  for (const std::size_t at : place) sorted.push_back(std::move(got[at]));
  return sorted;
}

}  // namespace tenure
