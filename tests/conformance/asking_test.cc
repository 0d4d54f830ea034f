// A holder is asked to yield, where that is offered.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

// A request that waits in a thread of its own.
class Asking {
 public:
  Asking(Fixture& fixture, Client client, const Key& key, const std::string& reason = "needed elsewhere",
         Duration deadline = minutes(5))
      : fixture_(fixture), stop_(std::make_shared<Stop>(std::move(*Stop::create()))) {
    AskRequest request{key, "asker", reason, deadline, stop_.get()};
    future_ = std::async(std::launch::async,
                         [engine = fixture.engine(client), stop = stop_, request] { return engine->ask(request); });
  }
  ~Asking() { stop_->request(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  void take_back() { stop_->request(); }
  bool ended() const { return future_.wait_for(Duration{0}) == std::future_status::ready; }
  // By itself, or as time passes.
  Result<Asked> result(Duration step = Duration{0}) {
    if (!(step > Duration{0} ? comes(future_, fixture_, step) : comes(future_))) {
      ADD_FAILURE() << "the request does not end";
      stop_->request();
    }
    return future_.get();
  }

 private:
  Fixture& fixture_;
  std::shared_ptr<Stop> stop_;
  std::future<Result<Asked>> future_;
};

// What the holder sees once there are so many.
std::vector<Ask> pending(Fixture& fixture, Client holder, const Grant& grant, std::size_t count = 1) {
  std::vector<Ask> seen;
  EXPECT_TRUE(eventually(fixture, Duration{0},
                         [&] {
                           auto asks = fixture.engine(holder)->asks({grant.key, grant.claim, grant.epoch});
                           if (asks) seen = *asks;
                           return asks && asks->size() == count;
                         }))
      << "the holder sees " << seen.size() << " requests, not " << count;
  return seen;
}

TEST_P(Conformance, AHolderAcceptsARequestInItsOwnWords) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Client asker = fixture->add_client({.command = "make release"});
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  Asking asking(*fixture, asker, key("thing"), "the release waits");
  const auto asks = pending(*fixture, holder, grant);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].by, "asker");
  EXPECT_EQ(asks[0].reason, "the release waits");
  EXPECT_EQ(asks[0].command, "make release");
  EXPECT_EQ(asks[0].process, fixture->world().identity_of(asker));
  EXPECT_EQ((asks[0].until - asks[0].since), minutes(5));
  const auto shown = fixture->engine(fixture->add_client())->holder(key("thing"));
  ASSERT_TRUE(shown);
  ASSERT_EQ(shown->asks.size(), 1u) << "it is not shown to others";
  EXPECT_EQ(shown->asks[0].reason, "the release waits");

  const auto answered = fixture->engine(holder)->answer(ref(grant), asks[0].id, Answer::accept, "in a minute");
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_TRUE(*answered);
  const auto asked = asking.result();
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->became, Became::accepted);
  EXPECT_EQ(asked->words, "in a minute");
  EXPECT_EQ(asked->was.epoch, grant.epoch);
  EXPECT_EQ(asked->was.holder->owner, "holder");
  EXPECT_TRUE(is_current(holder, grant)) << "to accept is a promise, not a release";
  pending(*fixture, holder, grant, 0);
  EXPECT_FALSE(*fixture->engine(holder)->answer(ref(grant), asks[0].id, Answer::decline, "")) << "answered twice";
}

TEST_P(Conformance, ADeclinedRequestSaysWhy) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  Asking asking(*fixture, fixture->add_client(), key("thing"));
  const auto asks = pending(*fixture, holder, grant);
  ASSERT_EQ(asks.size(), 1u);
  ASSERT_TRUE(*fixture->engine(holder)->answer(ref(grant), asks[0].id, Answer::decline, "half way through"));
  const auto asked = asking.result();
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->became, Became::declined);
  EXPECT_EQ(asked->words, "half way through");
}

TEST_P(Conformance, AnUnansweredRequestIsIgnoredAndLeavesNothing) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  Asking asking(*fixture, fixture->add_client(), key("thing"), "please", seconds(30));
  const auto asks = pending(*fixture, holder, grant);
  ASSERT_EQ(asks.size(), 1u);
  const auto asked = asking.result(seconds(1));
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->became, Became::ignored);
  pending(*fixture, holder, grant, 0);
  EXPECT_FALSE(*fixture->engine(holder)->answer(ref(grant), asks[0].id, Answer::accept, "too late"));
  EXPECT_TRUE(fixture->engine(holder)->holder(key("thing"))->asks.empty());
  EXPECT_TRUE(is_current(holder, grant));
}

TEST_P(Conformance, TheEndOfTheLeaseEndsItsRequests) {
  NEEDS(fixture->traits().asks);
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, second, request(key("thing"), "second"));
  waiting.told();
  Asking of_first(*fixture, fixture->add_client(), key("thing"));
  pending(*fixture, first, grant);
  release(first, grant);
  const auto asked = of_first.result();
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->became, Became::ended);
  EXPECT_EQ(asked->end, EventKind::released);
  ASSERT_TRUE(waiting.ends());
  const auto next = waiting.result();
  ASSERT_TRUE(next);
  pending(*fixture, second, *next, 0);  // the next holder was not asked

  Asking of_second(*fixture, fixture->add_client(), key("thing"));
  pending(*fixture, second, *next);
  ASSERT_TRUE(fixture->engine(fixture->add_client())->revoke({key("thing"), "for repairs", true, std::nullopt}));
  const auto revoked = of_second.result();
  ASSERT_TRUE(revoked) << revoked.error().message;
  EXPECT_EQ(revoked->became, Became::ended);
  EXPECT_EQ(revoked->end, EventKind::revoked);
  EXPECT_NE(revoked->words.find("for repairs"), std::string::npos) << revoked->words;
}

TEST_P(Conformance, WhereNobodyHoldsNobodyIsAsked) {
  NEEDS(fixture->traits().asks);
  const auto engine = fixture->engine(fixture->add_client());
  const AskRequest asking{key("thing"), "asker", "please", seconds(30), nullptr};
  auto refused = engine->ask(asking);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_held);
  const Client dead = fixture->add_client();
  claim(dead, request(key("thing"), "dead"));
  fixture->world().kill(dead);
  refused = engine->ask(asking);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_held);
  EXPECT_FALSE(refused.error().remedy.empty());
  ASSERT_TRUE(refused.error().holder);
  EXPECT_EQ(refused.error().holder->verdict.liveness, Liveness::dead);
  EXPECT_FALSE(stranger_gets(key("thing")).none()) << "the remedy is to claim it";
}

TEST_P(Conformance, TheDeathOfTheHolderEndsARequest) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  Asking asking(*fixture, fixture->add_client(), key("thing"));
  pending(*fixture, holder, grant);
  fixture->world().kill(holder);
  const auto asked = asking.result();
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->became, Became::ended);
  EXPECT_EQ(asked->end, EventKind::lost);
}

TEST_P(Conformance, SoManyAskAtOnceAndNoMore) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  std::vector<std::unique_ptr<Asking>> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(std::make_unique<Asking>(*fixture, fixture->add_client(), key("thing"), std::string(512, 'r')));
  }
  const auto asks = pending(*fixture, holder, grant, 8);
  const auto last = fixture->engine(fixture->add_client());
  auto refused = last->ask({key("thing"), "asker", "please", seconds(30), nullptr});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::limit_reached);
  EXPECT_NE(refused.error().message.find("8"), std::string::npos) << refused.error().message;
  ASSERT_TRUE(*fixture->engine(holder)->answer(ref(grant), asks[0].id, Answer::accept, std::string(256, 'w')));
  Asking ninth(*fixture, fixture->add_client(), key("thing"));
  pending(*fixture, holder, grant, 8);
  for (const Ask& each : pending(*fixture, holder, grant, 8)) {
    EXPECT_TRUE(*fixture->engine(holder)->answer(ref(grant), each.id, Answer::decline, std::string(256, 'w')));
  }
  const auto asked = ninth.result();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->became, Became::declined);
}

TEST_P(Conformance, ADeadOrCancelledAskerLeavesNothing) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Client asker = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  Asking dying(*fixture, asker, key("thing"));
  Asking cancelled(*fixture, fixture->add_client(), key("thing"));
  pending(*fixture, holder, grant, 2);
  cancelled.take_back();
  const auto asked = cancelled.result();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, Code::cancelled);
  pending(*fixture, holder, grant, 1);
  fixture->world().kill(asker);
  pending(*fixture, holder, grant, 0);
  EXPECT_TRUE(fixture->engine(fixture->add_client())->holder(key("thing"))->asks.empty());
}

TEST_P(Conformance, RequestsWithoutSenseAreRefused) {
  NEEDS(fixture->traits().asks);
  const Client holder = fixture->add_client();
  const Grant grant = claim(holder, request(key("thing"), "holder"));
  const auto engine = fixture->engine(fixture->add_client());
  const auto refusal = [&](const std::string& reason, Duration deadline) {
    auto asked = engine->ask({key("thing"), "asker", reason, deadline, nullptr});
    return asked ? std::optional<Code>() : asked.error().code;
  };
  EXPECT_EQ(refusal("", seconds(1)), Code::usage);
  EXPECT_EQ(refusal(std::string(513, 'r'), seconds(1)), Code::bad_label);
  EXPECT_EQ(refusal("two\nlines", seconds(1)), Code::bad_label);
  EXPECT_EQ(refusal("please", Duration{0}), Code::bad_duration);
  EXPECT_EQ(refusal("please", std::chrono::hours(25)), Code::bad_duration);
  EXPECT_EQ(fixture->engine(holder)->answer(ref(grant), 1, Answer::accept, std::string(257, 'w')).error().code,
            Code::bad_label);
  EXPECT_FALSE(*fixture->engine(holder)->answer(ref(grant), 1, Answer::accept, "")) << "nobody has asked";
  release(holder, grant);
  EXPECT_EQ(fixture->engine(holder)->asks(ref(grant)).error().code, Code::lost);
}

}  // namespace
}  // namespace tenure::conformance
