// Who may speak for a lease: the current claim, and nobody else.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, ReclaimFencesTheFormerHandle) {
  const Client client = fixture->add_client();
  const Grant former = claim(client, request(key("thing")));
  const Grant grant = claim(client, request(key("thing")));
  EXPECT_TRUE(grant.reclaimed);
  EXPECT_FALSE(grant.claim == former.claim);
  if (fixture->traits().reclaim_keeps_epoch) {
    EXPECT_EQ(grant.epoch, former.epoch);
  } else {
    EXPECT_GT(grant.epoch, former.epoch);
  }
  EXPECT_TRUE(is_lost(client, former));
  auto renewed = fixture->engine(client)->renew(ref(former));
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, Code::lost);
  auto released = fixture->engine(client)->release(ref(former));
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, Code::lost);
  EXPECT_TRUE(is_current(client, grant));
}

TEST_P(Conformance, EqualLabelsOfAnotherProcessAreAContender) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "same", "same"));
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "same", "same"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  EXPECT_TRUE(is_current(first, grant));
}

TEST_P(Conformance, AnotherPartOfTheSameOwnerIsRefused) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing"), "owner", "one"));
  auto refused = fixture->engine(client)->try_claim(request(key("thing"), "owner", "two"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held_by_part);
  EXPECT_TRUE(is_current(client, grant));
}

TEST_P(Conformance, AnotherOwnerInTheSameProcessIsRefused) {
  const Client client = fixture->add_client();
  claim(client, request(key("thing"), "one"));
  auto refused = fixture->engine(client)->try_claim(request(key("thing"), "two"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
}

TEST_P(Conformance, AGuessedHandleChangesNothing) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  auto engine = fixture->engine(fixture->add_client());
  ClaimRef guessed = ref(grant);
  guessed.claim = *ClaimId::parse("0123456789abcdef0123456789abcdef");
  ClaimRef empty = ref(grant);
  empty.claim = ClaimId{};
  ClaimRef wrong_epoch = ref(grant);
  wrong_epoch.epoch = Epoch(grant.epoch.value() + 1);
  for (const ClaimRef& forged : {guessed, empty, wrong_epoch}) {
    EXPECT_FALSE(engine->verify(forged));
    EXPECT_FALSE(engine->renew(forged));
    EXPECT_FALSE(engine->beat(forged));
    EXPECT_FALSE(engine->release(forged));
    EXPECT_TRUE(is_current(client, grant));
  }
}

TEST_P(Conformance, WhoeverCarriesTheHandleSpeaksForTheHolder) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  auto other = fixture->engine(fixture->add_client());
  ASSERT_TRUE(other->verify(ref(grant)));
  ASSERT_TRUE(other->renew(ref(grant)));
  auto released = other->release(ref(grant));
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE(released->released);
  EXPECT_FALSE(stranger_gets(key("thing")).none());
}

TEST_P(Conformance, RenewalKeepsTheEpoch) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  for (int round = 0; round < 3; ++round) {
    fixture->pass(seconds(4));
    auto beaten = fixture->engine(client)->beat(ref(grant));
    ASSERT_TRUE(beaten) << beaten.error().message;
    EXPECT_EQ(beaten->epoch, grant.epoch);
    auto renewed = fixture->engine(client)->renew(ref(grant));
    ASSERT_TRUE(renewed) << renewed.error().message;
    EXPECT_EQ(renewed->epoch, grant.epoch);
    EXPECT_FALSE(renewed->late_by);
  }
}

TEST_P(Conformance, AfterATakeoverTheFormerHandleLearnsTheNewEpoch) {
  const Client first = fixture->add_client();
  const Grant former = claim(first, request(key("thing"), "first"));
  fixture->world().kill(first);
  const Client second = fixture->add_client();
  const Grant grant = claim(second, request(key("thing"), "second"));
  // By another process that was given the handle: the first one says nothing any more.
  auto renewed = fixture->engine(second)->renew(ref(former));
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, Code::lost);
  EXPECT_NE(renewed.error().message.find(grant.epoch.text()), std::string::npos) << renewed.error().message;
  EXPECT_TRUE(is_lost(second, former));
  auto released = fixture->engine(second)->release(ref(former));
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, Code::lost);
  EXPECT_TRUE(is_current(second, grant));
}

}  // namespace
}  // namespace tenure::conformance
