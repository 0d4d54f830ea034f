// Waiting in line.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, AwaitIsGrantedAFreeKeyAtOnce) {
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing")));
  ASSERT_TRUE(waiting.ends());
  EXPECT_TRUE(waiting.result());
  EXPECT_TRUE(waiting.all_told().empty());
}

TEST_P(Conformance, AwaitIsGrantedAfterARelease) {
  const Client first = fixture->add_client();
  const Grant held = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"));
  waiting.told();
  EXPECT_FALSE(waiting.ended());
  release(first, held);
  ASSERT_TRUE(waiting.ends());
  auto granted = waiting.result();
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_GT(granted->epoch, held.epoch);
}

TEST_P(Conformance, OnWaitIsToldTheHolder) {
  const Client first = fixture->add_client();
  const Grant held = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"));
  const Observation told = waiting.told();
  EXPECT_EQ(told.state, State::held);
  EXPECT_EQ(told.epoch, held.epoch);
  ASSERT_TRUE(told.holder);
  EXPECT_EQ(told.holder->owner, "first");
  EXPECT_EQ(told.verdict.liveness, Liveness::live);
  // Its own process claims it again: for those who wait that is another holder, where it is another epoch.
  const Grant again = claim(first, request(key("thing"), "first"));
  const std::size_t changes = again.epoch == held.epoch ? 1 : 2;
  EXPECT_TRUE(eventually(*fixture, Duration{0}, [&] { return waiting.all_told().size() >= changes; }));
  EXPECT_EQ(waiting.all_told().back().epoch, again.epoch);
  release(first, again);
  ASSERT_TRUE(waiting.ends());
}

TEST_P(Conformance, AwaitTimesOutByTheClock) {
  const Client first = fixture->add_client();
  const Grant held = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"), seconds(10));
  waiting.told();
  fixture->pass(seconds(8));
  EXPECT_FALSE(waiting.ended());
  ASSERT_TRUE(waiting.ends(seconds(1)));
  auto refused = waiting.result();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::timed_out);
  // It left nothing behind: neither a claim nor a place in line.
  release(first, held);
  EXPECT_FALSE(stranger_gets(key("thing")).none());
}

TEST_P(Conformance, AwaitIsCancelledByItsStop) {
  const Client first = fixture->add_client();
  const Grant held = claim(first, request(key("thing"), "first"));
  auto stop = Stop::create();
  ASSERT_TRUE(stop);
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"), std::nullopt, &*stop);
  waiting.told();
  stop->request();
  ASSERT_TRUE(waiting.ends());
  auto refused = waiting.result();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::cancelled);
  release(first, held);
  EXPECT_FALSE(stranger_gets(key("thing")).none());
}

TEST_P(Conformance, AwaitWakesOnTheHoldersDeath) {
  const Client first = fixture->add_client();
  const Grant held = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"));
  waiting.told();
  fixture->world().kill(first);
  ASSERT_TRUE(waiting.ends());
  auto granted = waiting.result();
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_GT(granted->epoch, held.epoch);
  ASSERT_TRUE(granted->displaced);
  EXPECT_EQ(granted->displaced->verdict.liveness, Liveness::dead);
}

TEST_P(Conformance, AwaitIsGrantedWhenTheTtlHasRunOut) {
  NEEDS(fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant held = claim(first, with_ttl(request(key("thing"), "first"), seconds(30)));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"));
  waiting.told();
  ASSERT_TRUE(waiting.ends(seconds(1)));
  auto granted = waiting.result();
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_GT(granted->epoch, held.epoch);
  EXPECT_TRUE(is_lost(first, held));
}

TEST_P(Conformance, AwaitIsGrantedAfterARevocation) {
  const Client first = fixture->add_client();
  const Grant held = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "second"));
  waiting.told();
  ASSERT_TRUE(fixture->engine(fixture->add_client())->revoke({key("thing"), "test", true, std::nullopt}));
  ASSERT_TRUE(waiting.ends());
  ASSERT_TRUE(waiting.result());
  EXPECT_TRUE(is_lost(first, held));
}

TEST_P(Conformance, FirstComeFirstServed) {
  NEEDS(fixture->traits().first_in_first_out);
  const Client holder = fixture->add_client();
  Grant held = claim(holder, request(key("thing"), "holder"));
  Client serving = holder;
  std::vector<Client> clients;
  std::vector<std::unique_ptr<Waiting>> line;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(fixture->add_client());
    line.push_back(std::make_unique<Waiting>(*fixture, clients.back(), request(key("thing"))));
    line.back()->told();
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    release(serving, held);
    ASSERT_TRUE(line[i]->ends()) << i;
    for (std::size_t later = i + 1; later < line.size(); ++later) EXPECT_FALSE(line[later]->ended());
    auto granted = line[i]->result();
    ASSERT_TRUE(granted) << granted.error().message;
    EXPECT_TRUE(stranger_gets(key("thing")).none()) << "a newcomer went past the line";
    serving = clients[i];
    held = *granted;
  }
}

TEST_P(Conformance, WhoDiesInLineIsPassedOver) {
  NEEDS(fixture->traits().first_in_first_out);
  const Client holder = fixture->add_client();
  const Grant held = claim(holder, request(key("thing"), "holder"));
  const Client dying = fixture->add_client();
  Waiting first(*fixture, dying, request(key("thing")));
  first.told();
  Waiting second(*fixture, fixture->add_client(), request(key("thing")));
  second.told();
  fixture->world().kill(dying);
  release(holder, held);
  ASSERT_TRUE(second.ends());
  EXPECT_TRUE(second.result());
}

TEST_P(Conformance, AReclaimInThePlaceOfATicketLeavesNoPlaceBehind) {
  NEEDS(fixture->traits().tickets && fixture->traits().shows_line);
  const Client one = fixture->add_client();
  const Grant held = claim(one, request(key("thing"), "owner", "part"));
  const Wait once{.at_most = Duration{0}, .stop = nullptr, .ticket = "ticket", .grace = minutes(5), .on_wait = nullptr};
  EXPECT_FALSE(fixture->engine(one)->await(request(key("thing"), "owner", "another part"), once));
  EXPECT_EQ(fixture->engine(one)->holder(key("thing"))->waiting, 1U);
  auto again = fixture->engine(one)->await(request(key("thing"), "owner", "part"), once);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->reclaimed);
  EXPECT_FALSE(is_current(one, held));
  EXPECT_EQ(fixture->engine(one)->holder(key("thing"))->waiting, 0U);
  release(one, *again);
  EXPECT_FALSE(stranger_gets(key("thing")).none());
}

}  // namespace
}  // namespace tenure::conformance
