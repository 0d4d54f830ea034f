#include "lease/claim_order.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/limits.h"
#include "base/text.h"

namespace tenure::lease {

Result<std::vector<std::size_t>> claim_order(std::span<const Key> keys) {
  if (keys.empty()) return fail(Code::usage, "there is no key to claim");
  if (keys.size() > limits::kKeysAtOnce) {
    return fail(Code::usage, std::to_string(keys.size()) + " keys are more than the " +
                                 std::to_string(limits::kKeysAtOnce) + " that can be claimed at once");
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto text = [&](std::size_t number) -> const std::string& { return keys[number].text(); };
  std::ranges::sort(order, {}, text);
  const auto twice = std::ranges::adjacent_find(order, {}, text);
  if (twice != order.end()) return fail(Code::usage, escape_controls(text(*twice)) + " is named twice");
  return order;
}

}  // namespace tenure::lease
