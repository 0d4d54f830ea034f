#include "cli/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tenure::cli {
namespace {

constexpr std::array<std::string_view, 5> kKnown = {"run", "claim", "release", "revoke", "who"};

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("revok", kKnown), "revoke");
  EXPECT_EQ(nearest("relaese", kKnown), "release");
  EXPECT_EQ(nearest("rum", kKnown), "run");
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("xyzzy", kKnown), std::nullopt);
  EXPECT_EQ(nearest("", kKnown), std::nullopt);
  EXPECT_EQ(nearest(std::string(10'000, 'r'), kKnown), std::nullopt);
}

}  // namespace
}  // namespace tenure::cli
