// An operation while no takeover is possible.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, GuardRunsTheOperationOnce) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  int runs = 0;
  auto guarded = fixture->engine(client)->guard(by_claim(grant, minutes(1)), [&] {
    ++runs;
    return Result<void>{};
  });
  ASSERT_TRUE(guarded) << guarded.error().message;
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(is_current(client, grant));
  release(client, grant);
}

TEST_P(Conformance, GuardOfALostLeaseRunsNothing) {
  const Client client = fixture->add_client();
  const Grant former = claim(client, request(key("thing")));
  const Grant grant = claim(client, request(key("thing")));
  int runs = 0;
  auto guarded = fixture->engine(client)->guard(by_claim(former, minutes(1)), [&] {
    ++runs;
    return Result<void>{};
  });
  ASSERT_FALSE(guarded);
  EXPECT_EQ(guarded.error().code, Code::lost);
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(is_current(client, grant));
}

TEST_P(Conformance, GuardByTheEpochAlone) {
  const Client client = fixture->add_client();
  const Client other = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  std::optional<Result<Released>> released;
  auto guarded = fixture->engine(other)->guard(by_epoch(grant, std::chrono::hours(10)), [&] {
    auto tried = std::async(std::launch::async, [&] { return fixture->engine(other)->release(ref(grant)); });
    if (comes(tried, *fixture, milliseconds(200))) released = tried.get();
    return Result<void>{};
  });
  ASSERT_TRUE(guarded) << guarded.error().message;
  ASSERT_TRUE(released) << "it was not run, or hung";
  EXPECT_FALSE(*released) << "released under guard";
  EXPECT_TRUE(is_current(client, grant));
  release(client, grant);
}

TEST_P(Conformance, GuardByAnEpochThatIsNotCurrentRunsNothing) {
  const Client client = fixture->add_client();
  const Client other = fixture->add_client();
  const Grant former = claim(client, request(key("thing")));
  release(client, former);
  int runs = 0;
  const auto code_by = [&](const Grant& grant) {
    return fixture->engine(other)
        ->guard(by_epoch(grant, minutes(1)),
                [&] {
                  ++runs;
                  return Result<void>{};
                })
        .error()
        .code;
  };
  EXPECT_EQ(code_by(former), Code::lost) << "of a free key";
  Grant never = claim(client, request(key("thing")));
  EXPECT_EQ(code_by(former), Code::lost);
  never.epoch = Epoch(never.epoch.value() + 1);
  EXPECT_EQ(code_by(never), Code::lost) << "of one that was never granted";
  EXPECT_EQ(runs, 0);
}

TEST_P(Conformance, GuardExcludesATakeover) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing"), "first"), seconds(10)));
  std::optional<Result<Grant>> during;
  auto guarded = fixture->engine(first)->guard(by_claim(grant, std::chrono::hours(10)), [&] {
    fixture->pass(seconds(11));
    auto tried = std::async(std::launch::async,
                            [&] { return fixture->engine(second)->try_claim(request(key("thing"), "second")); });
    if (comes(tried, *fixture, seconds(1))) during = tried.get();
    return Result<void>{};
  });
  ASSERT_TRUE(guarded) << guarded.error().message;
  ASSERT_TRUE(during) << "the claim hung";
  EXPECT_FALSE(*during) << "taken over under guard";
  // The TTL has run out meanwhile: now it can be taken.
  EXPECT_GT(claim(second, request(key("thing"), "second")).epoch, grant.epoch);
  EXPECT_TRUE(is_lost(first, grant));
}

TEST_P(Conformance, GuardExcludesARevocation) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  std::optional<Result<Revoked>> during;
  auto guarded = fixture->engine(first)->guard(by_claim(grant, std::chrono::hours(10)), [&] {
    auto tried = std::async(std::launch::async, [&] {
      return fixture->engine(second)->revoke({key("thing"), "because", true, std::nullopt});
    });
    if (comes(tried, *fixture, seconds(1))) during = tried.get();
    return Result<void>{};
  });
  ASSERT_TRUE(guarded) << guarded.error().message;
  ASSERT_TRUE(during) << "the revocation hung";
  ASSERT_FALSE(*during) << "revoked under guard";
  EXPECT_EQ(during->error().code, Code::section_busy);
  EXPECT_TRUE(is_current(first, grant));
}

TEST_P(Conformance, GuardPastItsBoundIsAnUnknownOutcome) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  bool lost_meanwhile = false;
  auto guarded = fixture->engine(first)->guard(by_claim(grant, milliseconds(50)), [&] {
    lost_meanwhile = eventually(*fixture, milliseconds(20), [&] { return is_lost(second, grant); });
    return Result<void>{};
  });
  EXPECT_TRUE(lost_meanwhile) << "the guard was not dropped at its bound";
  ASSERT_FALSE(guarded);
  EXPECT_EQ(guarded.error().code, Code::unknown_outcome);
  EXPECT_TRUE(is_lost(first, grant));
}

TEST_P(Conformance, ADeadProcessGuardsNothing) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  Epoch over;
  (void)fixture->engine(first)->guard(by_claim(grant, minutes(1)), [&] {
    fixture->world().kill(first);
    over = stranger_gets(key("thing"));
    return Result<void>{};
  });
  EXPECT_GT(over, grant.epoch);
}

}  // namespace
}  // namespace tenure::conformance
