// Several keys at once: all or none.
#include <algorithm>
#include <numeric>

#include "base/limits.h"
#include "base/text.h"
#include "lease/space_state.h"
#include "tenure/space.h"

namespace tenure {
namespace {

using Order = std::vector<std::size_t>;  // numbers of keys

// One order for everybody: whoever holds one of them waits only for those behind it.
Result<Order> order_of(std::span<const Key> keys) {
  if (keys.empty()) return fail(Code::usage, "there is no key to claim");
  if (keys.size() > limits::kKeysAtOnce) {
    return fail(Code::usage, std::to_string(keys.size()) + " keys are more than the " +
                                 std::to_string(limits::kKeysAtOnce) + " that can be claimed at once");
  }
  Order order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto text = [&](std::size_t number) -> const std::string& { return keys[number].text(); };
  std::ranges::sort(order, {}, text);
  const auto twice = std::ranges::adjacent_find(order, {}, text);
  if (twice != order.end()) return fail(Code::usage, escape_controls(text(*twice)) + " is named twice");
  return order;
}

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
  const auto order = order_of(keys);
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
