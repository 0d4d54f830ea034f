// An operation while no takeover is possible.
#include <atomic>
#include <thread>

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

TEST_P(Conformance, AGuardWithinAGuardOfTheKeyIsRefusedAtOnce) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  const Grant other = claim(client, request(key("other")));
  int runs = 0;
  const auto count = [&] {
    ++runs;
    return Result<void>{};
  };
  Result<void> same, by_number, another;
  const auto guarded = fixture->engine(client)->guard(by_claim(grant, minutes(1)), [&] {
    same = fixture->engine(client)->guard(by_claim(grant, minutes(1)), count);
    by_number = fixture->engine(client)->guard(by_epoch(grant, minutes(1)), count);
    another = fixture->engine(client)->guard(by_claim(other, minutes(1)), count);
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  for (const Result<void>& refused : {same, by_number}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::would_deadlock);
    EXPECT_NE(refused.error().message.find("thing"), std::string::npos) << refused.error().message;
  }
  EXPECT_TRUE(another) << "another key: " << another.error().message;
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(is_current(client, grant));
  EXPECT_TRUE(fixture->engine(client)->guard(by_claim(grant, minutes(1)), count)) << "the mark stayed on the thread";
}

TEST_P(Conformance, WhatTheOperationWouldChangeOfItsOwnKeyIsRefusedAtOnce) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing"), "owner"));
  std::vector<Code> codes;
  bool current = false;
  const auto guarded = fixture->engine(client)->guard(by_claim(grant, minutes(1)), [&] {
    const auto engine = fixture->engine(client);
    const auto note = [&](const auto& result) { codes.push_back(result ? Code::internal : result.error().code); };
    note(engine->release(ref(grant)));
    note(engine->renew(ref(grant)));
    note(engine->revoke({key("thing"), "because", true, std::nullopt}));
    note(engine->try_claim(request(key("thing"), "owner")));
    note(engine->await(request(key("thing"), "another"), Wait{}));
    if (fixture->traits().handoff) note(engine->adopt(request(key("thing"), "another")));
    current = is_current(client, grant);
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  EXPECT_EQ(codes, std::vector<Code>(codes.size(), Code::would_deadlock));
  EXPECT_TRUE(current);
  EXPECT_TRUE(is_current(client, grant));
  release(client, grant);
}

TEST_P(Conformance, AReleaseFromElsewhereWaitsForTheOperation) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  std::future<Result<Released>> released;
  bool current = false;
  const auto guarded = fixture->engine(client)->guard(by_claim(grant, std::chrono::hours(1)), [&] {
    released = std::async(std::launch::async, [&] { return fixture->engine(client)->release(ref(grant)); });
    // Long enough for one that does not wait.
    (void)released.wait_for(milliseconds(50));
    current = is_current(client, grant);
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  EXPECT_TRUE(current) << "released under guard";
  ASSERT_TRUE(comes(released)) << "it waits still";
  const auto result = released.get();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->released);
}

TEST_P(Conformance, GuardsOfOneLeaseRunOneAfterTheOther) {
  const Client client = fixture->add_client();
  const Client other = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  std::atomic<int> inside = 0;
  std::atomic<int> runs = 0;
  const auto operation = [&] {
    EXPECT_EQ(++inside, 1);
    std::this_thread::yield();
    --inside;
    ++runs;
    return Result<void>{};
  };
  std::vector<std::future<Result<void>>> all;
  for (int i = 0; i < 8; ++i) {
    const Client who = i % 2 == 0 ? client : other;
    all.push_back(std::async(std::launch::async, [&, who] {
      return fixture->engine(who)->guard(by_epoch(grant, std::chrono::hours(1)), operation);
    }));
  }
  for (auto& each : all) {
    ASSERT_TRUE(comes(each)) << "it waits still";
    const auto done = each.get();
    EXPECT_TRUE(done) << done.error().message;
  }
  EXPECT_EQ(runs, 8);
  EXPECT_TRUE(is_current(client, grant));
}

TEST_P(Conformance, AGuardThatMustWaitTooLongIsRefused) {
  const Client client = fixture->add_client();
  const Client other = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  std::optional<Result<void>> second;
  const auto guarded = fixture->engine(client)->guard(by_claim(grant, std::chrono::hours(10)), [&] {
    auto tried = std::async(std::launch::async, [&] {
      return fixture->engine(other)->guard(by_epoch(grant, minutes(1)), [] { return Result<void>{}; });
    });
    if (comes(tried, *fixture, milliseconds(200))) second = tried.get();
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  ASSERT_TRUE(second) << "it waits still";
  ASSERT_FALSE(*second) << "two at once";
  EXPECT_EQ(second->error().code, Code::section_busy);
}

TEST_P(Conformance, AFailingOperationPassesThroughAndItsGuardIsGone) {
  const Client client = fixture->add_client();
  const Client other = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  for (const Code code : {Code::no_space, Code::lost, Code::unknown_outcome}) {
    const auto guarded = fixture->engine(client)->guard(
        by_claim(grant, minutes(1)), [&]() -> Result<void> { return fail(code, "out of paint", "buy some"); });
    ASSERT_FALSE(guarded);
    EXPECT_EQ(guarded.error().code, code);
    EXPECT_EQ(guarded.error().message, "out of paint");
    EXPECT_EQ(guarded.error().remedy, "buy some");
    EXPECT_TRUE(is_current(client, grant));
  }
  auto revoked = fixture->engine(other)->revoke({key("thing"), "because", true, std::nullopt});
  EXPECT_TRUE(revoked) << revoked.error().message;
}

TEST_P(Conformance, AFailingOperationPastItsBoundTellsBoth) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing")));
  const auto guarded = fixture->engine(first)->guard(by_claim(grant, milliseconds(50)), [&]() -> Result<void> {
    EXPECT_TRUE(eventually(*fixture, milliseconds(20), [&] { return is_lost(second, grant); }));
    return fail(Code::no_space, "out of paint");
  });
  ASSERT_FALSE(guarded);
  EXPECT_EQ(guarded.error().code, Code::unknown_outcome);
  for (const char* word : {"thing", "50 ms", "out of paint"}) {
    EXPECT_NE(guarded.error().message.find(word), std::string::npos) << guarded.error().message;
  }
}

TEST_P(Conformance, AGuardEndsWithTheProcessThatRunsTheOperation) {
  const Client holder = fixture->add_client();
  const Client worker = fixture->add_client();
  const Client other = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing")));
  const auto revocation = [&]() -> std::optional<Result<Revoked>> {
    auto tried = std::async(std::launch::async, [&] {
      return fixture->engine(other)->revoke({key("thing"), "because", true, std::nullopt});
    });
    if (!comes(tried, *fixture, seconds(1))) return std::nullopt;
    return tried.get();
  };
  std::optional<Result<Revoked>> before, after;
  bool current = false;
  (void)fixture->engine(worker)->guard(by_epoch(grant, std::chrono::hours(10)), [&] {
    before = revocation();
    fixture->world().kill(worker);
    current = is_current(holder, grant);
    after = revocation();
    return Result<void>{};
  });
  ASSERT_TRUE(before && after) << "a revocation hung";
  EXPECT_FALSE(*before) << "revoked under guard";
  EXPECT_TRUE(current) << "the lease is its holder's, whoever worked under it";
  EXPECT_TRUE(*after) << after->error().message;
}

TEST_P(Conformance, TheDeathOfTheHolderEndsNoGuardOfAnotherProcess) {
  NOT_BY_AGE();
  const Client holder = fixture->add_client();
  const Client worker = fixture->add_client();
  const Client stranger = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  std::optional<Result<Grant>> during;
  const auto guarded = fixture->engine(worker)->guard(by_epoch(grant, std::chrono::hours(10)), [&] {
    fixture->world().kill(holder);
    auto tried = std::async(std::launch::async,
                            [&] { return fixture->engine(stranger)->try_claim(request(key("thing"), "stranger")); });
    if (comes(tried, *fixture, seconds(1))) during = tried.get();
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  ASSERT_TRUE(during) << "the claim hung";
  EXPECT_FALSE(*during) << "taken over under guard";
  EXPECT_GT(claim(stranger, request(key("thing"), "stranger")).epoch, grant.epoch);
}

TEST_P(Conformance, AGuardWithoutABoundOrAnOperationIsRefused) {
  const Client client = fixture->add_client();
  const Grant grant = claim(client, request(key("thing")));
  const auto nothing = [] { return Result<void>{}; };
  for (const Duration bound : {Duration{0}, Duration{-1}, Duration::max()}) {
    const auto guarded = fixture->engine(client)->guard(by_claim(grant, bound), nothing);
    ASSERT_FALSE(guarded);
    EXPECT_EQ(guarded.error().code, Code::bad_duration);
  }
  const auto guarded = fixture->engine(client)->guard(by_claim(grant, minutes(1)), nullptr);
  ASSERT_FALSE(guarded);
  EXPECT_EQ(guarded.error().code, Code::usage);
  EXPECT_TRUE(is_current(client, grant));
}

}  // namespace
}  // namespace tenure::conformance
