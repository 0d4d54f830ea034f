// One holder, and nobody is presumed dead.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, AHeldKeyIsRefused) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  ASSERT_NE(refused.error().holder, nullptr);
  EXPECT_EQ(refused.error().holder->holder->owner, "first");
  EXPECT_EQ(refused.error().holder->epoch, grant.epoch);
  EXPECT_EQ(refused.error().holder->verdict.liveness, Liveness::live);
  EXPECT_TRUE(is_current(first, grant));
}

TEST_P(Conformance, AReleasedKeyIsFree) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  release(first, grant);
  EXPECT_TRUE(is_lost(first, grant));
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, ReleasingTwiceSaysThatThereWasNothing) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  release(first, grant);
  auto again = fixture->engine(first)->release(ref(grant));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->released);
}

TEST_P(Conformance, ADeadHolderIsDisplacedAndNamed) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  fixture->world().kill(first);
  const Client second = fixture->add_client();
  const Grant over = claim(second, request(key("thing"), "second"));
  EXPECT_GT(over.epoch, grant.epoch);
  EXPECT_FALSE(over.reclaimed);
  ASSERT_TRUE(over.displaced);
  EXPECT_EQ(over.displaced->holder->owner, "first");
  EXPECT_EQ(over.displaced->verdict.liveness, Liveness::dead);
  EXPECT_FALSE(over.displaced->verdict.evidence.empty());
}

TEST_P(Conformance, AStoppedHolderIsAlive) {
  NOT_BY_AGE();
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  fixture->world().stop(first);
  fixture->pass(std::chrono::hours(24));
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  fixture->world().resume(first);
  EXPECT_TRUE(is_current(first, grant));
}

TEST_P(Conformance, AZombieIsDeadOnlyWithoutOtherThreads) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  fixture->world().make_zombie(first, 2);
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  fixture->world().make_zombie(first, 0);
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, AnotherProcessWithItsNumberIsNotTheHolder) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  fixture->world().reuse_pid(first);
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, AHiddenHolderIsNotDead) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  claim(first, request(key("thing"), "first"));
  fixture->world().hide(first, second);
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
}

TEST_P(Conformance, AHolderInAnotherNamespaceIsNotDead) {
  const Client first = fixture->add_client();
  claim(first, request(key("thing"), "first"));
  const Client second = fixture->add_client({.pid_namespace = 77});
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
}

TEST_P(Conformance, AHolderOnAnotherMachineIsNotDead) {
  const Client first = fixture->add_client({.machine = "machine-b", .host = "host-b"});
  claim(first, request(key("thing"), "first"));
  const Client second = fixture->add_client();
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  EXPECT_NE(refused.error().holder->verdict.liveness, Liveness::dead);
}

TEST_P(Conformance, KeptForAnotherProcessItLastsWhileEitherLives) {
  const Client owner = fixture->add_client();
  const Client keeper = fixture->add_client();
  ClaimRequest kept = request(key("thing"));
  kept.owner_process = fixture->world().identity_of(owner);
  const Grant grant = claim(keeper, kept);
  fixture->world().kill(keeper);
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  fixture->world().kill(owner);
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, WithoutRandomnessNothingIsClaimed) {
  if (const auto joined = fixture->joins_without_randomness()) {
    EXPECT_EQ(*joined, Code::no_randomness);  // its claim ids begin with what was drawn then
    return;
  }
  const Client first = fixture->add_client();
  fixture->random(first).run_dry(true);
  auto refused = fixture->engine(first)->try_claim(request(key("thing")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::no_randomness);
  auto seen = fixture->engine(first)->holder(key("thing"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, State::free);
}

}  // namespace
}  // namespace tenure::conformance
