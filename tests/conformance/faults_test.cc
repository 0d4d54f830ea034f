// When the store fails: done, refused, or unknown, and never one for another.
//
// Each verb is run with each of its calls to the disk failing in turn, in each way; then the truth is looked up.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

using fakes::Fault;

constexpr std::uint64_t kMostCalls = 200;

struct Way {
  const char* name;
  Fault fault;
};
constexpr Way kWays[] = {
    {"refused with an input/output error", {Fault::Kind::refuse, Code::input_output}},
    {"refused for want of space", {Fault::Kind::refuse, Code::no_space}},
    {"done, and the answer lost", {Fault::Kind::lose_answer, Code::input_output}},
};

// Runs `verb` once for each call that it makes and each way to fail; `verb` gets a key of its own and calls `failing`
// around the operation under test. False: there are no faults to plan here.
class FaultRun {
 public:
  FaultRun(Fixture& fixture, Client client, Fault fault, std::uint64_t nth)
      : plan_(fixture.faults(client)), fault_(fault), nth_(nth) {}

  template <class Operation>
  auto failing(Operation operation) {
    const std::size_t before = plan_->calls().size();
    plan_->at_call(nth_, fault_);
    auto result = operation();
    reached_ = plan_->calls().size() - before >= nth_;
    plan_->clear();
    return result;
  }
  bool reached() const { return reached_; }

 private:
  std::shared_ptr<fakes::FaultPlan> plan_;
  Fault fault_;
  std::uint64_t nth_;
  bool reached_ = false;
};

template <class T>
Outcome outcome_of(const Result<T>& result) {
  return facts(result.error().code).outcome;
}

TEST_P(Conformance, AClaimThatFailsIsRefusedOrUnknown) {
  NEEDS(fixture->faults(fixture->add_client()) != nullptr);
  for (const Way& way : kWays) {
    bool more = true;
    for (std::uint64_t nth = 1; more && nth < kMostCalls; ++nth) {
      SCOPED_TRACE(std::string(way.name) + ", call " + std::to_string(nth));
      const Key thing = key(std::string("claim-") + std::to_string(&way - kWays) + "-" + std::to_string(nth));
      const Client client = fixture->add_client();
      FaultRun run(*fixture, client, way.fault, nth);
      auto granted = run.failing([&] { return fixture->engine(client)->try_claim(request(thing)); });
      more = run.reached();
      if (granted) {
        EXPECT_TRUE(is_current(client, *granted));
        EXPECT_TRUE(stranger_gets(thing).none());
        fixture->world().kill(client);
        EXPECT_GT(stranger_gets(thing), granted->epoch);
      } else if (outcome_of(granted) == Outcome::refused) {
        EXPECT_FALSE(stranger_gets(thing).none()) << "refused, and yet it holds: " << granted.error().message;
      } else {
        EXPECT_EQ(outcome_of(granted), Outcome::unknown) << granted.error().message;
        auto seen = fixture->engine(fixture->add_client())->holder(thing);
        ASSERT_TRUE(seen) << "nobody can tell what became of it: " << seen.error().message;
        fixture->world().kill(client);
        EXPECT_GT(stranger_gets(thing), seen->epoch) << "what is unknown outlives its process";
      }
    }
    EXPECT_FALSE(more) << "more calls than were tried";
  }
}

TEST_P(Conformance, ARenewalThatFailsLosesNothing) {
  NEEDS(fixture->faults(fixture->add_client()) != nullptr);
  for (const Way& way : kWays) {
    const Client client = fixture->add_client();
    const Grant grant = claim(client, request(key(std::string("renew-") + std::to_string(&way - kWays))));
    bool more = true;
    for (std::uint64_t nth = 1; more && nth < kMostCalls; ++nth) {
      SCOPED_TRACE(std::string(way.name) + ", call " + std::to_string(nth));
      FaultRun run(*fixture, client, way.fault, nth);
      auto renewed = run.failing([&] { return fixture->engine(client)->renew(ref(grant)); });
      more = run.reached();
      if (!renewed) {
        EXPECT_NE(outcome_of(renewed), Outcome::lost) << renewed.error().message;
      }
      EXPECT_TRUE(is_current(client, grant));
      EXPECT_TRUE(stranger_gets(grant.key).none());
    }
    EXPECT_FALSE(more) << "more calls than were tried";
  }
}

TEST_P(Conformance, AReleaseThatFailsIsRefusedOrUnknown) {
  NEEDS(fixture->faults(fixture->add_client()) != nullptr);
  for (const Way& way : kWays) {
    bool more = true;
    for (std::uint64_t nth = 1; more && nth < kMostCalls; ++nth) {
      SCOPED_TRACE(std::string(way.name) + ", call " + std::to_string(nth));
      const Key thing = key(std::string("release-") + std::to_string(&way - kWays) + "-" + std::to_string(nth));
      const Client client = fixture->add_client();
      const Grant grant = claim(client, request(thing));
      FaultRun run(*fixture, client, way.fault, nth);
      auto released = run.failing([&] { return fixture->engine(client)->release(ref(grant)); });
      more = run.reached();
      if (released) {
        EXPECT_TRUE(released->released);
        EXPECT_GT(stranger_gets(thing), grant.epoch);
      } else if (outcome_of(released) == Outcome::refused) {
        EXPECT_TRUE(is_current(client, grant)) << "refused, and yet given back: " << released.error().message;
        EXPECT_TRUE(stranger_gets(thing).none());
        release(client, grant);
      } else {
        EXPECT_EQ(outcome_of(released), Outcome::unknown) << released.error().message;
        fixture->world().kill(client);
        EXPECT_GT(stranger_gets(thing), grant.epoch);
      }
    }
    EXPECT_FALSE(more) << "more calls than were tried";
  }
}

TEST_P(Conformance, ARevocationThatFailsIsRefusedOrUnknown) {
  NEEDS(fixture->faults(fixture->add_client()) != nullptr);
  for (const Way& way : kWays) {
    bool more = true;
    for (std::uint64_t nth = 1; more && nth < kMostCalls; ++nth) {
      SCOPED_TRACE(std::string(way.name) + ", call " + std::to_string(nth));
      const Key thing = key(std::string("revoke-") + std::to_string(&way - kWays) + "-" + std::to_string(nth));
      const Client client = fixture->add_client();
      const Client operator_ = fixture->add_client();
      const Grant grant = claim(client, request(thing));
      FaultRun run(*fixture, operator_, way.fault, nth);
      auto revoked =
          run.failing([&] { return fixture->engine(operator_)->revoke({thing, "because", true, std::nullopt}); });
      more = run.reached();
      if (revoked) {
        EXPECT_TRUE(is_lost(client, grant));
        EXPECT_GT(stranger_gets(thing), grant.epoch);
      } else if (outcome_of(revoked) == Outcome::refused) {
        EXPECT_TRUE(is_current(client, grant)) << "refused, and yet revoked: " << revoked.error().message;
      } else {
        EXPECT_EQ(outcome_of(revoked), Outcome::unknown) << revoked.error().message;
      }
    }
    EXPECT_FALSE(more) << "more calls than were tried";
  }
}

TEST_P(Conformance, DeathAtEveryCallOfAClaimLeavesTheKeyClaimable) {
  NEEDS(fixture->faults(fixture->add_client()) != nullptr);
  const Key thing = key("thing");
  Epoch highest;
  for (const Fault::Kind kind : {Fault::Kind::die_before, Fault::Kind::die_after}) {
    bool more = true;
    for (std::uint64_t nth = 1; more && nth < kMostCalls; ++nth) {
      SCOPED_TRACE("call " + std::to_string(nth));
      const Client client = fixture->add_client();
      FaultRun run(*fixture, client, {kind, Code::internal}, nth);
      auto granted = run.failing([&] { return fixture->engine(client)->try_claim(request(thing)); });
      more = run.reached();
      fixture->world().kill(client);
      if (granted) highest = std::max(highest, granted->epoch);
      const Epoch over = stranger_gets(thing);
      EXPECT_GT(over, highest) << "stuck behind a dead process, or an epoch twice";
      highest = std::max(highest, over);
      ASSERT_TRUE(fixture->engine(fixture->add_client())->revoke({thing, "next round", true, std::nullopt}));
    }
    EXPECT_FALSE(more) << "more calls than were tried";
  }
}

}  // namespace
}  // namespace tenure::conformance
