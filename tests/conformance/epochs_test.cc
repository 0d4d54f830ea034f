// Epochs of a key only rise.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, EpochsRiseOverReleases) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  Epoch highest;
  for (int round = 0; round < 10; ++round) {
    const Client client = round % 3 == 0 ? first : second;
    const Grant grant = claim(client, request(key("thing")));
    EXPECT_GT(grant.epoch, highest);
    EXPECT_TRUE(grant.epoch.credible());
    highest = grant.epoch;
    release(client, grant);
  }
}

TEST_P(Conformance, EpochsRiseOverTakeovers) {
  Epoch highest;
  for (int round = 0; round < 5; ++round) {
    const Client client = fixture->add_client();
    const Grant grant = claim(client, request(key("thing")));
    EXPECT_GT(grant.epoch, highest);
    highest = grant.epoch;
    fixture->world().kill(client);
  }
}

TEST_P(Conformance, EpochsRiseOverRevocations) {
  const Client client = fixture->add_client();
  Epoch highest;
  for (int round = 0; round < 3; ++round) {
    const Grant grant = claim(client, request(key("thing")));
    EXPECT_GT(grant.epoch, highest);
    highest = grant.epoch;
    ASSERT_TRUE(fixture->engine(client)->revoke({key("thing"), "test", true, std::nullopt}));
  }
}

TEST_P(Conformance, EpochsRiseOverExpiry) {
  NEEDS(fixture->traits().ttl);
  Epoch highest;
  for (int round = 0; round < 3; ++round) {
    const Client client = fixture->add_client();
    const Grant grant = claim(client, with_ttl(request(key("thing")), seconds(2)));
    EXPECT_GT(grant.epoch, highest);
    highest = grant.epoch;
    fixture->pass(seconds(3));
  }
}

TEST_P(Conformance, EpochsRiseOverARestart) {
  NEEDS(fixture->traits().durable_epochs);
  const Client before = fixture->add_client();
  const Grant free = claim(before, request(key("free")));
  release(before, free);
  const Grant held = claim(before, request(key("held")));
  fixture->restart();
  EXPECT_GT(stranger_gets(key("free")), free.epoch);
  EXPECT_GT(stranger_gets(key("held")), held.epoch);
}

TEST_P(Conformance, EpochsRiseOverALossOfPower) {
  NEEDS(fixture->traits().durable_epochs);
  Epoch highest;
  for (int round = 0; round < 4; ++round) {
    const Client client = fixture->add_client();
    const Grant grant = claim(client, request(key("thing")));
    EXPECT_GT(grant.epoch, highest);
    highest = grant.epoch;
    if (round % 2 == 1) release(client, grant);
    NEEDS(fixture->lose_power());
  }
}

TEST_P(Conformance, ADamagedRecordProvesNothingAndTheEpochRises) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  NEEDS(fixture->damage(key("thing")));
  const Client second = fixture->add_client();
  auto refused = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  ASSERT_FALSE(refused) << "a damaged record was discarded";
  EXPECT_EQ(facts(refused.error().code).outcome, Outcome::refused);
  fixture->world().kill(first);
  Result<Grant> granted = fail(Code::internal, "not tried");
  for (int tries = 0; tries < 100 && !granted; ++tries) {
    fixture->pass(seconds(1));
    granted = fixture->engine(second)->try_claim(request(key("thing"), "second"));
  }
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_GT(granted->epoch, grant.epoch);
}

}  // namespace
}  // namespace tenure::conformance
