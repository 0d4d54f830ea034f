// Every interleaving of two reclaimers and a newcomer. Minutes: a campaign.
#include <gtest/gtest.h>

#include "receiver/meetings.h"

namespace tenure::tests {
namespace {

TEST(Interleavings, TwoReclaimersAndANewcomer) {
  const auto explored = explore({.begin = leave_a_stale_guard,
                                 .parties = {"one", "two", "newcomer"},
                                 .mortal = {},
                                 .check = all_the_living_were_inside});
  tell("newcomer", explored);
}

TEST(Interleavings, TwoReclaimersAndANewcomerWhileOneDies) {
  const auto explored = explore({.begin = leave_a_stale_guard,
                                 .parties = {"mortal", "other", "newcomer"},
                                 .mortal = {"mortal"},
                                 .interruptions = 5,
                                 .check = all_the_living_were_inside});
  tell("newcomer_and_death", explored);
}

}  // namespace
}  // namespace tenure::tests
