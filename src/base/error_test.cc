#include "tenure/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace tenure {
namespace {

TEST(ErrorFacts, EveryCodeHasItsOwnLine) {
  int codes = 0;
  std::set<std::string_view> names;
#define TENURE_ERROR(name_, exit_, http_, retry_, outcome_, text_) \
  {                                                                \
    const CodeFacts& line = facts(Code::name_);                    \
    EXPECT_EQ(line.code, Code::name_);                             \
    EXPECT_EQ(line.name, #name_);                                  \
    EXPECT_EQ(line.exit_code, exit_);                              \
    EXPECT_EQ(line.http_status, http_);                            \
    EXPECT_EQ(line.retry, Retry::retry_);                          \
    EXPECT_EQ(line.outcome, Outcome::outcome_);                    \
    EXPECT_EQ(line.meaning, text_);                                \
    names.insert(line.name);                                       \
    ++codes;                                                       \
  }
#include "tenure/errors.def"
#undef TENURE_ERROR
  EXPECT_EQ(static_cast<int>(names.size()), codes);
}

TEST(ErrorFacts, ExitCodesAreThoseOfTheDesign) {
  const std::set<int> allowed{64, 69, 70, 73, 75, 76, 77};
#define TENURE_ERROR(name, exit, http, retry, outcome, text) EXPECT_TRUE(allowed.contains(exit)) << #name;
#include "tenure/errors.def"
#undef TENURE_ERROR
}

TEST(ErrorFacts, OnlyLossesEndWith76) {
#define TENURE_ERROR(name_, exit_, http_, retry_, outcome_, text_) \
  EXPECT_EQ(facts(Code::name_).exit_code == 76, facts(Code::name_).outcome == Outcome::lost) << #name_;
#include "tenure/errors.def"
#undef TENURE_ERROR
}

TEST(ErrorFacts, AWildValueIsAFaultOfOurs) {
  EXPECT_EQ(facts(static_cast<Code>(255)).code, Code::internal);
}

TEST(ErrorFacts, FailCarriesWhatItWasGiven) {
  const Result<int> refused = fail(Code::held, "held by a", "wait");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::held);
  EXPECT_EQ(refused.error().message, "held by a");
  EXPECT_EQ(refused.error().remedy, "wait");
  EXPECT_EQ(refused.error().holder, nullptr);
}

}  // namespace
}  // namespace tenure
