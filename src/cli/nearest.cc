#include "cli/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace tenure::cli {
namespace {

constexpr std::size_t kLongestWord = 64;

// Letters to insert, delete or exchange.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 2) + 1;
  for (const std::string_view each : known) {
    const std::size_t found = distance(word, each);
    if (found >= least || found >= each.size()) continue;
    least = found;
    best = each;
  }
  return best;
}

}  // namespace tenure::cli
