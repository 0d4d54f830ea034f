// README.md's list of cases that no engine may skip is true.
#include <set>

#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST(RequiredCases, EachOneExistsForEveryEngine) {
  const auto required = required_cases();
  ASSERT_GE(required.size(), 40U) << "the list could not be read";
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  int engines = 0;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (std::string(suite.name()).find("/Conformance") == std::string::npos) continue;
    ++engines;
    std::set<std::string> present;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string full = suite.GetTestInfo(j)->name();
      present.insert(full.substr(0, full.find('/')));
    }
    for (const std::string& name : required) {
      EXPECT_TRUE(present.contains(name)) << suite.name() << " has no case " << name;
    }
  }
  EXPECT_GE(engines, 1);
}

}  // namespace
}  // namespace tenure::conformance
