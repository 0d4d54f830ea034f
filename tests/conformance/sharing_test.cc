// Shared leases and slots, where they are offered.
#include <gmock/gmock.h>

#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

ClaimRequest as_reader(ClaimRequest request) {
  request.terms.mode = Mode::shared;
  return request;
}

ClaimRequest in_slots(ClaimRequest request, std::uint32_t slots) {
  request.terms.slots = slots;
  return request;
}

TEST_P(Conformance, ReadersShareAndAWriterIsAlone) {
  NEEDS(fixture->traits().shared);
  const Client one = fixture->add_client();
  const Client two = fixture->add_client();
  const Client writer = fixture->add_client();
  const Grant first = claim(one, as_reader(request(key("thing"))));
  const Grant second = claim(two, as_reader(request(key("thing"))));
  EXPECT_GT(second.epoch, first.epoch);
  EXPECT_FALSE(fixture->engine(writer)->try_claim(request(key("thing"))));
  release(one, first);
  EXPECT_TRUE(is_current(two, second));
  EXPECT_FALSE(fixture->engine(writer)->try_claim(request(key("thing"))));
  release(two, second);
  const Grant alone = claim(writer, request(key("thing")));
  auto refused = fixture->engine(one)->try_claim(as_reader(request(key("thing"))));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  EXPECT_TRUE(is_current(writer, alone));
}

TEST_P(Conformance, AWriterInLineIsNotStarvedByReaders) {
  NEEDS(fixture->traits().shared && fixture->traits().first_in_first_out);
  const Client reader = fixture->add_client();
  const Grant reading = claim(reader, as_reader(request(key("thing"))));
  Waiting writer(*fixture, fixture->add_client(), request(key("thing")));
  writer.told();
  EXPECT_FALSE(fixture->engine(fixture->add_client())->try_claim(as_reader(request(key("thing")))));
  release(reader, reading);
  ASSERT_TRUE(writer.ends());
  EXPECT_TRUE(writer.result());
}

TEST_P(Conformance, ADeadReaderAmongLivingOnesDoesNotFreeTheKey) {
  NEEDS(fixture->traits().shared);
  const Client one = fixture->add_client();
  const Client two = fixture->add_client();
  claim(one, as_reader(request(key("thing"))));
  const Grant living = claim(two, as_reader(request(key("thing"))));
  fixture->world().kill(one);
  EXPECT_TRUE(stranger_gets(key("thing")).none());
  fixture->world().kill(two);
  EXPECT_GT(stranger_gets(key("thing")), living.epoch);
}

TEST_P(Conformance, AsManyAsThereAreSlots) {
  NEEDS(fixture->traits().slots);
  std::vector<Client> clients;
  std::vector<Grant> grants;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(fixture->add_client());
    grants.push_back(claim(clients.back(), in_slots(request(key("thing")), 3)));
  }
  const Client fourth = fixture->add_client();
  auto refused = fixture->engine(fourth)->try_claim(in_slots(request(key("thing")), 3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  release(clients[1], grants[1]);
  grants[1] = claim(fourth, in_slots(request(key("thing")), 3));
  // The place of a dead one is free, and only that one is displaced.
  fixture->world().kill(clients[0]);
  const Grant over = claim(clients[1], in_slots(request(key("thing")), 3));
  EXPECT_TRUE(over.displaced);
  EXPECT_TRUE(is_current(fourth, grants[1]));
  EXPECT_TRUE(is_current(clients[2], grants[2]));
  EXPECT_FALSE(fixture->engine(fixture->add_client())->try_claim(in_slots(request(key("thing")), 3)));
}

TEST_P(Conformance, SlotsOfAnotherNumberDoNotMix) {
  NEEDS(fixture->traits().slots);
  const Client one = fixture->add_client();
  const Grant held = claim(one, in_slots(request(key("thing")), 3));
  auto other = fixture->engine(fixture->add_client())->try_claim(in_slots(request(key("thing")), 5));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::slots_differ);
  EXPECT_THAT(other.error().message, testing::HasSubstr("held as 3 slots"));
  // Waiting does not mend it.
  auto waited = fixture->engine(fixture->add_client())
                    ->await(in_slots(request(key("thing")), 5), {.at_most = minutes(5), .on_wait = nullptr});
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Code::slots_differ);
  auto alone = fixture->engine(fixture->add_client())->try_claim(request(key("thing")));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Code::held);
  release(one, held);
  claim(one, in_slots(request(key("thing")), 5));
}

TEST_P(Conformance, OfThoseThatHoldNoTwoHaveOneSlot) {
  NEEDS(fixture->traits().slots);
  std::vector<Client> clients;
  std::vector<Grant> grants;
  for (std::uint32_t i = 0; i < 3; ++i) {
    clients.push_back(fixture->add_client());
    grants.push_back(claim(clients.back(), in_slots(request(key("thing")), 3)));
    EXPECT_EQ(grants.back().slot, i);
  }
  release(clients[1], grants[1]);
  grants[1] = claim(clients[1], in_slots(request(key("thing")), 3));
  EXPECT_EQ(grants[1].slot, 1U) << "what was given back";
  fixture->world().kill(clients[0]);
  const Client next = fixture->add_client();
  EXPECT_EQ(claim(next, in_slots(request(key("thing")), 3)).slot, 0U) << "the dead one's";
  const auto seen = fixture->engine(next)->holder(key("thing"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->holders, 3U);
  ASSERT_EQ(seen->together.size(), 3U);
  ASSERT_TRUE(seen->holder);
  EXPECT_EQ(seen->holder->slots, 3U);
  EXPECT_EQ(seen->holder->slot, 2U) << "who holds longest comes first";
  EXPECT_EQ(seen->together[1].holder.slot, 1U);
  EXPECT_EQ(seen->together[2].holder.slot, 0U);
}

TEST_P(Conformance, WhoWaitsForASlotGetsTheOneThatComesFree) {
  NEEDS(fixture->traits().slots);
  const Client one = fixture->add_client();
  const Client two = fixture->add_client();
  claim(one, in_slots(request(key("thing")), 2));
  const Grant second = claim(two, in_slots(request(key("thing")), 2));
  Waiting by_release(*fixture, fixture->add_client(), in_slots(request(key("thing")), 2));
  by_release.told();
  release(two, second);
  ASSERT_TRUE(by_release.ends());
  const auto by_release_granted = by_release.result();
  ASSERT_TRUE(by_release_granted) << by_release_granted.error().message;
  EXPECT_EQ(by_release_granted->slot, 1U);
  Waiting by_death(*fixture, fixture->add_client(), in_slots(request(key("thing")), 2));
  by_death.told();
  fixture->world().kill(one);
  ASSERT_TRUE(by_death.ends());
  const auto by_death_granted = by_death.result();
  ASSERT_TRUE(by_death_granted) << by_death_granted.error().message;
  EXPECT_EQ(by_death_granted->slot, 0U);
}

TEST_P(Conformance, ReadersInLineEnterTogether) {
  NEEDS(fixture->traits().shared && fixture->traits().first_in_first_out);
  const Client writer = fixture->add_client();
  const Grant writing = claim(writer, request(key("thing")));
  std::vector<std::unique_ptr<Waiting>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(std::make_unique<Waiting>(*fixture, fixture->add_client(), as_reader(request(key("thing")))));
    readers.back()->told();
  }
  release(writer, writing);
  for (const auto& reader : readers) {
    ASSERT_TRUE(reader->ends());
    EXPECT_TRUE(reader->result());
  }
  EXPECT_EQ(fixture->engine(writer)->holder(key("thing"))->holders, 3U);
}

TEST_P(Conformance, AReaderThatWantsToWriteIsNextOnceTheOthersAreGone) {
  NEEDS(fixture->traits().shared && fixture->traits().first_in_first_out);
  const Client one = fixture->add_client();
  const Client two = fixture->add_client();
  const Grant reading = claim(one, as_reader(request(key("thing"), "one", "part")));
  const Grant other = claim(two, as_reader(request(key("thing"), "two", "part")));
  Waiting stranger(*fixture, fixture->add_client(), request(key("thing")));
  stranger.told();
  Waiting upgrade(*fixture, one, request(key("thing"), "one", "part"));
  upgrade.told();
  EXPECT_TRUE(is_current(one, reading)) << "it reads until it writes";
  // A second one would wait for the first for ever.
  auto second =
      fixture->engine(two)->await(request(key("thing"), "two", "part"), {.at_most = minutes(5), .on_wait = nullptr});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::would_deadlock);
  EXPECT_TRUE(is_current(two, other));
  release(two, other);
  ASSERT_TRUE(upgrade.ends());
  const auto writing = upgrade.result();
  ASSERT_TRUE(writing) << writing.error().message;
  EXPECT_TRUE(writing->reclaimed);
  EXPECT_FALSE(is_current(one, reading));
  EXPECT_TRUE(is_current(one, *writing));
  // And back: from writing to reading, without a moment in which it is free.
  const Grant again = claim(one, as_reader(request(key("thing"), "one", "part")));
  EXPECT_TRUE(is_current(one, again));
  release(one, again);
  ASSERT_TRUE(stranger.ends());
  EXPECT_TRUE(stranger.result());
}

TEST_P(Conformance, ARevocationTakesItFromAllOfThemOrFromTheOneNamed) {
  NEEDS(fixture->traits().shared);
  std::vector<Client> clients;
  std::vector<Grant> grants;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(fixture->add_client());
    grants.push_back(claim(clients.back(), as_reader(request(key("thing")))));
  }
  const Client other = fixture->add_client();
  EXPECT_FALSE(fixture->engine(other)->revoke({.key = key("thing"), .reason = "", .force = false}));
  auto one = fixture->engine(other)->revoke(
      {.key = key("thing"), .reason = "trial", .force = true, .only_epoch = grants[1].epoch});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(is_current(clients[0], grants[0]));
  EXPECT_FALSE(is_current(clients[1], grants[1]));
  ASSERT_TRUE(fixture->engine(other)->revoke({.key = key("thing"), .reason = "trial", .force = true}));
  EXPECT_FALSE(is_current(clients[0], grants[0]));
  EXPECT_FALSE(is_current(clients[2], grants[2]));
  EXPECT_FALSE(stranger_gets(key("thing")).none());
}

TEST_P(Conformance, TermsOfSharingThatCannotBeAreRefused) {
  NEEDS(fixture->traits().shared && fixture->traits().slots);
  const Client one = fixture->add_client();
  EXPECT_EQ(fixture->engine(one)->try_claim(in_slots(as_reader(request(key("thing"))), 2)).error().code, Code::usage);
  EXPECT_EQ(fixture->engine(one)->try_claim(in_slots(request(key("thing")), 1025)).error().code, Code::usage);
  EXPECT_EQ(fixture->engine(one)->try_claim(in_slots(request(key("thing")), 0)).error().code, Code::usage);
}

// What is offered to a ticket that nobody polls just now, and what others do meanwhile.
Wait one_poll(const std::string& ticket) {
  return {.at_most = Duration{0}, .stop = nullptr, .ticket = ticket, .grace = minutes(5), .on_wait = nullptr};
}

TEST_P(Conformance, NobodyComesToHaveItAloneWhileASlotIsOfferedToAnother) {
  NEEDS(fixture->traits().slots && fixture->traits().tickets);
  const Client one = fixture->add_client();
  const Client two = fixture->add_client();
  const Client away = fixture->add_client();
  const Grant first = claim(one, in_slots(request(key("thing"), "one", "part"), 2));
  const Grant second = claim(two, in_slots(request(key("thing"), "two"), 2));
  EXPECT_FALSE(fixture->engine(away)->await(in_slots(request(key("thing"), "away"), 2), one_poll("away")));
  release(two, second);
  auto alone = fixture->engine(one)->try_claim(request(key("thing"), "one", "part"));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Code::held);
  auto offered = fixture->engine(away)->await(in_slots(request(key("thing"), "away"), 2), one_poll("away"));
  ASSERT_TRUE(offered) << offered.error().message;
  EXPECT_TRUE(is_current(one, first));
  EXPECT_TRUE(is_current(away, *offered));
}

TEST_P(Conformance, WhoReadsAgainWhileItIsOfferedToItselfToWriteHasItOnce) {
  NEEDS(fixture->traits().shared && fixture->traits().tickets);
  const Client one = fixture->add_client();
  const Client other = fixture->add_client();
  claim(one, as_reader(request(key("thing"), "one", "part")));
  const Grant theirs = claim(other, as_reader(request(key("thing"), "other")));
  EXPECT_FALSE(fixture->engine(one)->await(request(key("thing"), "one", "part"), one_poll("writer")));
  release(other, theirs);
  const Grant again = claim(one, as_reader(request(key("thing"), "one", "part")));
  EXPECT_TRUE(is_current(one, again));
  auto writing = fixture->engine(one)->await(request(key("thing"), "one", "part"), one_poll("writer"));
  ASSERT_TRUE(writing) << writing.error().message;
  EXPECT_FALSE(is_current(one, again));
  EXPECT_TRUE(is_current(one, *writing));
  EXPECT_FALSE(fixture->engine(other)->try_claim(as_reader(request(key("thing"), "other"))));
}

TEST_P(Conformance, ATicketGivesUpNothingOfWhoPolledItBefore) {
  NEEDS(fixture->traits().shared && fixture->traits().tickets);
  const Client one = fixture->add_client();
  const Client other = fixture->add_client();
  const Client third = fixture->add_client();
  const Grant reading = claim(one, as_reader(request(key("thing"), "one", "part")));
  const Grant theirs = claim(other, as_reader(request(key("thing"), "other")));
  EXPECT_FALSE(fixture->engine(one)->await(request(key("thing"), "one", "part"), one_poll("writer")));
  release(other, theirs);
  EXPECT_FALSE(fixture->engine(third)->await(request(key("thing"), "third"), one_poll("writer")));
  EXPECT_TRUE(is_current(one, reading));
  auto writing = fixture->engine(one)->await(request(key("thing"), "one", "part"), one_poll("writer"));
  ASSERT_TRUE(writing) << writing.error().message;
  EXPECT_FALSE(is_current(one, reading));
}

TEST_P(Conformance, ATicketThatNobodyPollsKeepsOnePlaceAndNoMore) {
  NEEDS(fixture->traits().slots && fixture->traits().tickets);
  std::vector<Client> clients;
  std::vector<Grant> grants;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(fixture->add_client());
    grants.push_back(claim(clients.back(), in_slots(request(key("thing")), 3)));
  }
  const Client away = fixture->add_client();
  EXPECT_FALSE(fixture->engine(away)->await(in_slots(request(key("thing")), 3), one_poll("away")));
  for (std::size_t i = 0; i < 3; ++i) release(clients[i], grants[i]);
  // Three places are free, one of them the ticket's.
  for (std::size_t i = 0; i < 2; ++i) grants[i] = claim(clients[i], in_slots(request(key("thing")), 3));
  EXPECT_FALSE(fixture->engine(clients[2])->try_claim(in_slots(request(key("thing")), 3)));
  EXPECT_FALSE(fixture->engine(clients[2])->try_claim(request(key("thing"))));
  auto back = fixture->engine(away)->await(in_slots(request(key("thing")), 3), one_poll("away"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->slot, 2U);
}

TEST_P(Conformance, ATicketToReadThatNobodyPollsKeepsNoReaderOut) {
  NEEDS(fixture->traits().shared && fixture->traits().tickets);
  const Client writer = fixture->add_client();
  const Grant writing = claim(writer, request(key("thing")));
  const Client away = fixture->add_client();
  EXPECT_FALSE(fixture->engine(away)->await(as_reader(request(key("thing"))), one_poll("away")));
  release(writer, writing);
  const Client reader = fixture->add_client();
  const Grant reading = claim(reader, as_reader(request(key("thing"))));
  // But a writer, who came later than the ticket.
  EXPECT_FALSE(fixture->engine(writer)->try_claim(request(key("thing"))));
  ASSERT_TRUE(fixture->engine(away)->await(as_reader(request(key("thing"))), one_poll("away")));
  EXPECT_TRUE(is_current(reader, reading));
}

}  // namespace
}  // namespace tenure::conformance
