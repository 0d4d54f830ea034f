#include "tenure/error.h"

#include <array>
#include <cstddef>

namespace tenure {
namespace {

constexpr auto kFacts = std::to_array<CodeFacts>({
#define TENURE_ERROR(name, exit, http, retry, outcome, text) \
  {Code::name, #name, exit, http, Retry::retry, Outcome::outcome, text},
#include "tenure/errors.def"
#undef TENURE_ERROR
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (static_cast<std::size_t>(kFacts[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the list of facts is indexed by the code");

}  // namespace

const CodeFacts& facts(Code code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  // A value outside the list can only come from a wild cast: it is a fault of ours, and is called one.
  return index < kFacts.size() ? kFacts[index] : kFacts[static_cast<std::size_t>(Code::internal)];
}

}  // namespace tenure
