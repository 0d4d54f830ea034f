// Every interleaving of those who meet a guard: two reclaimers and a newcomer, with the death of one at each step.
#include <gtest/gtest.h>

#include "receiver/meetings.h"

namespace tenure::tests {
namespace {

TEST(Interleavings, TwoWhoMeetAFreeGuard) {
  const auto explored = explore(
      {.begin = [](Schedule&) {}, .parties = {"one", "two"}, .mortal = {}, .check = all_the_living_were_inside});
  tell("free", explored);
  EXPECT_GT(explored.ends, 1U);
}

TEST(Interleavings, ThreeWhoMeetAFreeGuard) {
  const auto explored = explore({.begin = [](Schedule&) {},
                                 .parties = {"one", "two", "three"},
                                 .mortal = {},
                                 .check = all_the_living_were_inside});
  tell("three", explored);
}

TEST(Interleavings, TwoReclaimers) {
  const auto explored = explore(
      {.begin = leave_a_stale_guard, .parties = {"one", "two"}, .mortal = {}, .check = all_the_living_were_inside});
  tell("reclaimers", explored);
}

TEST(Interleavings, TwoReclaimersOneOfWhomDies) {
  const auto explored = explore({.begin = leave_a_stale_guard,
                                 .parties = {"mortal", "other"},
                                 .mortal = {"mortal"},
                                 .check = all_the_living_were_inside});
  tell("mortal_reclaimer", explored);
}

// Every interleaving of the three takes minutes: see interleaving_long_test.cc.
TEST(Interleavings, TwoReclaimersAndANewcomerWithThreeInterruptions) {
  const auto explored = explore({.begin = leave_a_stale_guard,
                                 .parties = {"one", "two", "newcomer"},
                                 .mortal = {},
                                 .interruptions = 3,
                                 .check = all_the_living_were_inside});
  tell("newcomer", explored);
}

TEST(Interleavings, TwoReclaimersAndANewcomerWithTwoInterruptionsAndADeath) {
  const auto explored = explore({.begin = leave_a_stale_guard,
                                 .parties = {"mortal", "other", "newcomer"},
                                 .mortal = {"mortal"},
                                 .interruptions = 2,
                                 .check = all_the_living_were_inside});
  tell("newcomer_and_death", explored);
}

}  // namespace
}  // namespace tenure::tests
