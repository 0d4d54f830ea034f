// Shared leases and slots, where they are offered.
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
  claim(one, in_slots(request(key("thing")), 3));
  EXPECT_FALSE(fixture->engine(fixture->add_client())->try_claim(in_slots(request(key("thing")), 5)));
  EXPECT_FALSE(fixture->engine(fixture->add_client())->try_claim(request(key("thing"))));
}

}  // namespace
}  // namespace tenure::conformance
