#include "cli/clear_dead.h"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

// What a look before the change would have seen: the same lease with its holder dead.
Observation seen_dead(Observation seen) {
  seen.verdict = {Liveness::dead, "it was seen to be gone"};
  return seen;
}

class ClearDead : public testing::Test {
 protected:
  Space space_ = *Space::open("memory:");
  const Key key_ = *Key::parse("k");
};

TEST_F(ClearDead, LeavesTheLivingAlone) {
  auto lease = space_.claim(key_);
  ASSERT_TRUE(lease);
  const Clearance done = clear_dead(space_, *space_.list(), "");
  EXPECT_EQ(done.left, 1U);
  EXPECT_TRUE(done.cleared.empty());
  EXPECT_TRUE(lease->verify());
}

TEST_F(ClearDead, LeavesWhoCameMeanwhileAlone) {
  std::optional<Lease> first = std::move(*space_.claim(key_));
  const Observation before = seen_dead(*space_.holder(key_));
  first.reset();
  auto second = space_.claim(key_);
  ASSERT_TRUE(second);
  ASSERT_GT(second->epoch(), before.epoch);
  const Clearance done = clear_dead(space_, {before}, "");
  EXPECT_EQ(done.left, 1U);
  EXPECT_TRUE(done.cleared.empty());
  EXPECT_TRUE(done.failed.empty());
  EXPECT_TRUE(second->verify());
}

TEST_F(ClearDead, AnOldVerdictIsNoForce) {
  auto lease = space_.claim(key_);
  ASSERT_TRUE(lease);
  const Clearance done = clear_dead(space_, {seen_dead(*space_.holder(key_))}, "");
  EXPECT_EQ(done.left, 1U);
  EXPECT_TRUE(lease->verify());
}

TEST_F(ClearDead, WhatIsFreeByNowIsNoFault) {
  std::optional<Lease> lease = std::move(*space_.claim(key_));
  const Observation before = seen_dead(*space_.holder(key_));
  lease.reset();
  const Clearance done = clear_dead(space_, {before}, "");
  EXPECT_EQ(done.left, 1U);
  EXPECT_TRUE(done.failed.empty());
}

TEST_F(ClearDead, ARefusedReasonIsTold) {
  auto lease = space_.claim(key_);
  const Clearance done = clear_dead(space_, {seen_dead(*space_.holder(key_))}, "two\nlines");
  ASSERT_EQ(done.failed.size(), 1U);
  EXPECT_EQ(done.failed[0].second.code, Code::bad_label);
  EXPECT_TRUE(lease->verify());
}

}  // namespace
}  // namespace tenure::cli
