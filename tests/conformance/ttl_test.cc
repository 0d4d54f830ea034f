// A TTL that the holder asked for is a hard limit; nobody else's shortens it.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, NotBeforeTheTtlAndYesAfterIt) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing")), seconds(10)));
  ASSERT_TRUE(grant.valid_until);
  fixture->pass(seconds(9));
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  EXPECT_TRUE(is_current(first, grant));
  fixture->pass(seconds(2));
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
  EXPECT_TRUE(is_lost(first, grant));
}

TEST_P(Conformance, AContendersTtlShortensNothing) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  claim(first, with_ttl(request(key("limited")), seconds(10)));
  claim(first, request(key("unlimited")));
  fixture->pass(seconds(5));
  for (const char* name : {"limited", "unlimited"}) {
    auto refused = fixture->engine(second)->try_claim(with_ttl(request(key(name), "second"), milliseconds(1)));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Code::held);
  }
}

TEST_P(Conformance, RenewalExtendsTheTtl) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing")), seconds(10)));
  fixture->pass(seconds(8));
  auto renewed = fixture->engine(first)->renew(ref(grant));
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_FALSE(renewed->late_by);
  ASSERT_TRUE(renewed->valid_until);
  EXPECT_GT(*renewed->valid_until, *grant.valid_until);
  fixture->pass(seconds(8));
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  auto standing = fixture->engine(first)->verify(ref(grant));
  ASSERT_TRUE(standing) << standing.error().message;
  ASSERT_TRUE(standing->remaining);
  EXPECT_LE(*standing->remaining, seconds(2));
  EXPECT_GT(*standing->remaining, seconds(1));
}

TEST_P(Conformance, ASignOfLifeDoesNotExtendTheTtl) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing")), seconds(10)));
  fixture->pass(seconds(6));
  ASSERT_TRUE(fixture->engine(first)->beat(ref(grant)));
  fixture->pass(seconds(6));
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, ALateRenewalWithNobodyBetweenSucceedsAndSaysSo) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing")), seconds(10)));
  fixture->pass(seconds(13));
  auto standing = fixture->engine(first)->verify(ref(grant));
  ASSERT_FALSE(standing);
  EXPECT_EQ(standing.error().code, Code::expired);
  auto renewed = fixture->engine(first)->renew(ref(grant));
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_EQ(renewed->epoch, grant.epoch);
  ASSERT_TRUE(renewed->late_by);
  EXPECT_GE(*renewed->late_by, seconds(2));
  EXPECT_LE(*renewed->late_by, seconds(4));
  EXPECT_TRUE(is_current(first, grant));
  EXPECT_TRUE(stranger_gets(key("thing")).none());
}

TEST_P(Conformance, ARenewalAfterATakeoverFailsAndNamesTheNewEpoch) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant former = claim(first, with_ttl(request(key("thing"), "first"), seconds(10)));
  fixture->pass(seconds(11));
  const Client second = fixture->add_client();
  const Grant grant = claim(second, request(key("thing"), "second"));
  auto renewed = fixture->engine(first)->renew(ref(former));
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, Code::lost);
  EXPECT_NE(renewed.error().message.find(grant.epoch.text()), std::string::npos) << renewed.error().message;
  EXPECT_TRUE(is_current(second, grant));
  // Not even after the second one has gone: it never revives.
  release(second, grant);
  EXPECT_FALSE(fixture->engine(first)->renew(ref(former)));
}

TEST_P(Conformance, TheMachinesSleepCountsForTheHolderOnly) {
  NOT_BY_AGE();
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing")), seconds(10)));
  fixture->clock().sleep(minutes(5));
  auto standing = fixture->engine(first)->verify(ref(grant));
  ASSERT_FALSE(standing) << "the holder relies on a validity that has run out";
  EXPECT_EQ(standing.error().code, Code::expired);
  EXPECT_TRUE(stranger_gets(key("thing")).none()) << "the holder had no chance to renew";
}

TEST_P(Conformance, TheWallClockDecidesNothing) {
  NOT_BY_AGE();
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing")), seconds(10)));
  fixture->clock().step_wall(std::chrono::hours(48));
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  fixture->clock().step_wall(-std::chrono::hours(96));
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  EXPECT_TRUE(is_current(first, grant));
  fixture->pass(seconds(11));
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

}  // namespace
}  // namespace tenure::conformance
