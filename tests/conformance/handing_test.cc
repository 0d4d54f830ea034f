// A lease is handed to a successor, where that is offered.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, TheSuccessorTakesALeaseUpWithoutAGap) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "in line"));
  waiting.told();
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  const auto shown = fixture->engine(fixture->add_client())->holder(key("thing"));
  ASSERT_TRUE(shown && shown->offer) << "the offer is not shown";
  EXPECT_EQ(shown->offer->to, "second");
  EXPECT_TRUE(is_current(first, grant)) << "an offer is not the end";
  EXPECT_TRUE(stranger_gets(key("thing")).none());

  const auto adopted = fixture->engine(second)->adopt(request(key("thing"), "second"));
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_GT(adopted->epoch, grant.epoch);
  EXPECT_TRUE(is_current(second, *adopted));
  const auto former = fixture->engine(first)->verify(ref(grant));
  ASSERT_FALSE(former);
  EXPECT_EQ(former.error().code, Code::lost);
  EXPECT_NE(former.error().message.find("handed off: to second"), std::string::npos) << former.error().message;
  EXPECT_FALSE(fixture->engine(first)->renew(ref(grant)));
  EXPECT_FALSE(fixture->engine(first)->release(ref(grant)));
  EXPECT_FALSE(waiting.ended()) << "it came free in between";
  EXPECT_FALSE(fixture->engine(second)->holder(key("thing"))->offer) << "an offer is adopted once";
  release(second, *adopted);
  ASSERT_TRUE(waiting.ends());
  EXPECT_TRUE(waiting.result());
}

TEST_P(Conformance, OnlyWhomItIsOfferedToAdopts) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const auto other = fixture->engine(fixture->add_client());
  EXPECT_EQ(other->adopt(request(key("thing"), "second")).error().code, Code::not_held);
  const Grant grant = claim(first, request(key("thing"), "first"));
  EXPECT_EQ(other->adopt(request(key("thing"), "second")).error().code, Code::not_offered);
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  const auto refused = other->adopt(request(key("thing"), "third"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_offered);
  EXPECT_NE(refused.error().message.find("second"), std::string::npos) << refused.error().message;
  EXPECT_EQ(other->adopt(request(key("thing"), "")).error().code, Code::usage);
  // A later offer takes the place of a former one.
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "third"}));
  EXPECT_EQ(other->adopt(request(key("thing"), "second")).error().code, Code::not_offered);
  const auto withdrawn = fixture->engine(first)->withdraw_hand_off(ref(grant));
  ASSERT_TRUE(withdrawn);
  EXPECT_TRUE(*withdrawn);
  EXPECT_FALSE(*fixture->engine(first)->withdraw_hand_off(ref(grant)));
  EXPECT_EQ(other->adopt(request(key("thing"), "third")).error().code, Code::not_offered);
  EXPECT_TRUE(is_current(first, grant));
  const auto senseless = [&](const HandOff& offer) {
    auto done = fixture->engine(first)->hand_off(ref(grant), offer);
    return done ? std::optional<Code>() : done.error().code;
  };
  EXPECT_EQ(senseless({.to = ""}), Code::bad_label);
  EXPECT_EQ(senseless({.to = "second", .within = Duration{0}}), Code::bad_duration);
  EXPECT_EQ(senseless({.to = "second", .within = std::chrono::hours(2)}), Code::bad_duration);
}

TEST_P(Conformance, AnOfferThatNobodyAdoptsReturnsToItsHolder) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second", .within = seconds(10)}));
  fixture->pass(seconds(11));
  EXPECT_TRUE(is_current(first, grant));
  EXPECT_FALSE(fixture->engine(first)->holder(key("thing"))->offer);
  EXPECT_EQ(fixture->engine(fixture->add_client())->adopt(request(key("thing"), "second")).error().code,
            Code::not_offered);
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  EXPECT_FALSE(*fixture->engine(first)->withdraw_hand_off(ref(grant)));
}

TEST_P(Conformance, AnOfferThatNobodyAdoptsGoesToTheLine) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const HandOff offer{.to = "second", .within = seconds(10), .back = Back::line};
  const Grant grant = claim(first, request(key("thing"), "first"));
  const Grant alone = claim(first, request(key("alone"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("thing"), "in line"));
  waiting.told();
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), offer));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(alone), offer));
  fixture->pass(seconds(9));
  EXPECT_TRUE(is_current(first, grant));
  EXPECT_FALSE(waiting.ended());
  fixture->pass(seconds(2));
  ASSERT_TRUE(waiting.ends(milliseconds(100)));
  const auto next = waiting.result();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->epoch, grant.epoch);
  EXPECT_TRUE(is_lost(first, grant));
  EXPECT_TRUE(is_lost(first, alone)) << "the holder may go on though everybody may take the key";
  EXPECT_FALSE(fixture->engine(first)->renew(ref(alone)));
  EXPECT_TRUE(fixture->engine(first)->holder(key("alone"))->claimable);
  EXPECT_GT(stranger_gets(key("alone")), alone.epoch);
}

TEST_P(Conformance, TheOfferOfADeadHolderStandsForItsTime) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const HandOff offer{.to = "second", .within = seconds(10)};
  const Grant one = claim(first, request(key("one"), "first"));
  const Grant two = claim(first, request(key("two"), "first"));
  Waiting waiting(*fixture, fixture->add_client(), request(key("two"), "in line"));
  waiting.told();
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(one), offer));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(two), offer));
  fixture->world().kill(first);
  EXPECT_TRUE(stranger_gets(key("one")).none());
  EXPECT_FALSE(fixture->engine(second)->holder(key("one"))->claimable);
  const auto adopted = fixture->engine(second)->adopt(request(key("one"), "second"));
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_GT(adopted->epoch, one.epoch);
  EXPECT_FALSE(waiting.ended());
  fixture->pass(seconds(11));
  ASSERT_TRUE(waiting.ends(milliseconds(100))) << "after its time the usual rules";
  EXPECT_TRUE(waiting.result());
}

TEST_P(Conformance, AnOfferDoesNotExtendATtl) {
  NEEDS(fixture->traits().handoff && fixture->traits().ttl);
  const Client first = fixture->add_client();
  const Grant grant = claim(first, with_ttl(request(key("thing"), "first"), seconds(5)));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second", .within = seconds(60)}));
  fixture->pass(seconds(6));
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
  EXPECT_FALSE(fixture->engine(fixture->add_client())->adopt(request(key("thing"), "second")));
  const Client dying = fixture->add_client();
  const Grant other = claim(dying, with_ttl(request(key("other"), "dying"), seconds(5)));
  ASSERT_TRUE(fixture->engine(dying)->hand_off(ref(other), {.to = "second", .within = seconds(60)}));
  fixture->world().kill(dying);
  EXPECT_TRUE(stranger_gets(key("other")).none());
  fixture->pass(seconds(6));
  EXPECT_GT(stranger_gets(key("other")), other.epoch) << "of a dead holder neither";
}

TEST_P(Conformance, WhatEndsALeaseEndsItsOffer) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const auto second = fixture->engine(fixture->add_client());
  Grant grant = claim(first, request(key("thing"), "first"));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  grant = claim(first, request(key("thing"), "first"));
  EXPECT_EQ(second->adopt(request(key("thing"), "second")).error().code, Code::not_offered) << "claimed again";
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  release(first, grant);
  EXPECT_EQ(second->adopt(request(key("thing"), "second")).error().code, Code::not_held) << "released";
  grant = claim(first, request(key("thing"), "first"));
  EXPECT_EQ(second->adopt(request(key("thing"), "second")).error().code, Code::not_offered);
}

TEST_P(Conformance, GuardExcludesAnAdoption) {
  NEEDS(fixture->traits().handoff);
  const Client first = fixture->add_client();
  const auto second = fixture->engine(fixture->add_client());
  const Grant grant = claim(first, request(key("thing"), "first"));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  std::optional<Code> meanwhile;
  ASSERT_TRUE(fixture->engine(first)->guard(by_claim(grant, seconds(10)), [&] {
    auto adopted = second->adopt(request(key("thing"), "second"));
    if (!adopted) meanwhile = adopted.error().code;
    return Result<void>{};
  }));
  EXPECT_EQ(meanwhile, Code::section_busy);
  EXPECT_TRUE(second->adopt(request(key("thing"), "second")));
}

TEST_P(Conformance, ASlotIsHandedOverAsItIs) {
  NEEDS(fixture->traits().handoff && fixture->traits().slots);
  const Client first = fixture->add_client();
  const Client other = fixture->add_client();
  ClaimRequest slots = request(key("thing"), "first");
  slots.terms.slots = 2;
  const Grant grant = claim(first, slots);
  slots.owner = "other";
  const Grant beside = claim(other, slots);
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  const Client second = fixture->add_client();
  const auto adopted = fixture->engine(second)->adopt(request(key("thing"), "second"));
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_EQ(adopted->slot, grant.slot);
  EXPECT_GT(adopted->epoch, beside.epoch);
  EXPECT_TRUE(is_lost(first, grant));
  EXPECT_TRUE(is_current(other, beside));
  EXPECT_TRUE(is_current(second, *adopted));
  slots.owner = "third";
  EXPECT_EQ(fixture->engine(fixture->add_client())->try_claim(slots).error().code, Code::held);
  release(second, *adopted);
  EXPECT_GT(claim(first, slots).epoch, adopted->epoch);
}

TEST_P(Conformance, AnAdoptionEndsTheRequestsToTheFormerHolder) {
  NEEDS(fixture->traits().handoff && fixture->traits().asks);
  const Client first = fixture->add_client();
  const Client second = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  auto asked = std::async(std::launch::async, [this, engine = fixture->engine(fixture->add_client())] {
    return engine->ask({key("thing"), "asker", "please", minutes(5), nullptr});
  });
  ASSERT_TRUE(eventually(*fixture, Duration{0}, [&] { return fixture->engine(first)->asks(ref(grant))->size() == 1; }));
  ASSERT_TRUE(fixture->engine(first)->hand_off(ref(grant), {.to = "second"}));
  const auto adopted = fixture->engine(second)->adopt(request(key("thing"), "second"));
  ASSERT_TRUE(adopted) << adopted.error().message;
  ASSERT_TRUE(comes(asked));
  const auto became = asked.get();
  ASSERT_TRUE(became) << became.error().message;
  EXPECT_EQ(became->became, Became::ended);
  EXPECT_EQ(became->end, EventKind::handed_off);
  EXPECT_NE(became->words.find("second"), std::string::npos) << became->words;
  EXPECT_TRUE(fixture->engine(second)->asks(ref(*adopted))->empty());
}

}  // namespace
}  // namespace tenure::conformance
