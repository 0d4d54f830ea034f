#include "rules/sharing.h"

#include <gtest/gtest.h>

namespace tenure::rules {
namespace {

Terms shared() {
  Terms terms;
  terms.mode = Mode::shared;
  return terms;
}
Terms slots(std::uint32_t count) {
  Terms terms;
  terms.slots = count;
  return terms;
}

TEST(Sharing, OnlyReadersAndSlotsOfOneNumberStandTogether) {
  EXPECT_TRUE(coexist(shared(), shared()));
  EXPECT_TRUE(coexist(slots(3), slots(3)));
  EXPECT_FALSE(coexist(slots(1), slots(1)));
  EXPECT_FALSE(coexist(slots(3), slots(4)));
  EXPECT_FALSE(coexist(shared(), slots(1)));
  EXPECT_FALSE(coexist(shared(), slots(3)));
}

TEST(Sharing, RoomIsForEverybodyWhereNobodyIs) {
  for (const Terms& wanted : {shared(), slots(1), slots(2)}) {
    for (const Terms& theirs : {shared(), slots(1), slots(2)}) EXPECT_EQ(room_beside(theirs, 0, wanted), Room::beside);
  }
}

TEST(Sharing, EverySmallWorld) {
  const Terms kinds[] = {shared(), slots(1), slots(2), slots(3)};
  for (const Terms& theirs : kinds) {
    for (std::size_t holders = 1; holders <= 4; ++holders) {
      for (const Terms& wanted : kinds) {
        const Room room = room_beside(theirs, holders, wanted);
        const bool readers = theirs.mode == Mode::shared && wanted.mode == Mode::shared;
        const bool both_slots =
            theirs.mode == Mode::exclusive && wanted.mode == Mode::exclusive && theirs.slots > 1 && wanted.slots > 1;
        const bool fits = both_slots && theirs.slots == wanted.slots && holders < wanted.slots;
        EXPECT_EQ(room == Room::beside, readers || fits);
        EXPECT_EQ(room == Room::other_number, both_slots && theirs.slots != wanted.slots);
      }
    }
  }
}

TEST(Sharing, Words) {
  EXPECT_EQ(words_of_holders(shared(), 1), "1 reader has it");
  EXPECT_EQ(words_of_holders(shared(), 2), "2 readers have it");
  EXPECT_EQ(words_of_holders(slots(4), 4), "all 4 slots are taken");
  EXPECT_EQ(words_of_holders(slots(4), 1), "1 of 4 slots is taken");
}

}  // namespace
}  // namespace tenure::rules
