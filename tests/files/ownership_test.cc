#include <gtest/gtest.h>

#include "files/files_world.h"

namespace tenure::tests {
namespace {

TEST(FilesOwnership, AClaimIsGrantedRefusedReleasedAndGrantedHigher) {
  FilesWorld world;
  auto a = world.client();
  auto b = world.client();
  auto first = a.engine->try_claim(request("k", "a"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->epoch, Epoch(1));
  auto refused = b.engine->try_claim(request("k", "b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->holder->owner, "a");
  EXPECT_TRUE(a.engine->verify(ref(*first)));
  auto released = a.engine->release(ref(*first));
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE(released->released);
  auto second = b.engine->try_claim(request("k", "b"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->epoch, Epoch(2));
  EXPECT_EQ(a.engine->verify(ref(*first)).error().code, Code::lost);
}

TEST(FilesOwnership, ADeadHolderIsDisplacedAtOnceWithTheEvidence) {
  FilesWorld world;
  auto a = world.client();
  auto b = world.client();
  auto first = a.engine->try_claim(request("k", "a"));
  ASSERT_TRUE(first);
  world.world->kill(a.number);
  auto second = b.engine->try_claim(request("k", "b"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->epoch, Epoch(2));
  ASSERT_TRUE(second->displaced);
  EXPECT_EQ(second->displaced->verdict.liveness, Liveness::dead);
}

TEST(FilesOwnership, ADeletedRecordDoesNotOpenTheKeyWhileItsHolderLives) {
  FilesWorld world;
  auto a = world.client();
  auto b = world.client();
  auto first = a.engine->try_claim(request("k", "a"));
  ASSERT_TRUE(first);
  world.disk->erase("k.lease.json");
  EXPECT_EQ(b.engine->try_claim(request("k", "b")).error().code, Code::held);
  auto standing = a.engine->verify(ref(*first));
  ASSERT_TRUE(standing) << standing.error().message;
  EXPECT_TRUE(standing->needs_beat);
  ASSERT_TRUE(a.engine->beat(ref(*first)));
  EXPECT_EQ(b.engine->try_claim(request("k", "b")).error().holder->holder->owner, "a");
}

}  // namespace
}  // namespace tenure::tests
