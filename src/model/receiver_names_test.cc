#include "model/receiver_names.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/limits.h"

namespace tenure::receiver {
namespace {

constexpr Random16 kRandom = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                              0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
constexpr const char* kUuid = "00112233-4455-4677-8899-aabbccddeeff";
const WallTime kMoved = WallTime::from_milliseconds(1796034410123);

TEST(ReceiverNames, AUuidIsOneOfVersionFour) {
  EXPECT_EQ(uuid_of(kRandom), kUuid);
  Random16 ones{};
  ones.fill(0xff);
  EXPECT_EQ(uuid_of(ones), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(uuid_of({}), "00000000-0000-4000-8000-000000000000");
  EXPECT_TRUE(is_uuid(kUuid));
  for (const std::string text : {"", "00112233-4455-4677-8899-aabbccddeef", "00112233-4455-4677-8899-aabbccddeefff",
                                 "00112233x4455-4677-8899-aabbccddeeff", "0011223g-4455-4677-8899-aabbccddeeff"}) {
    EXPECT_FALSE(is_uuid(text)) << text;
  }
}

TEST(ReceiverNames, OurGenerationsAreTold) {
  EXPECT_EQ(generation_of(kRandom), std::string("tenure-") + kUuid);
  EXPECT_TRUE(is_ours(generation_of(kRandom)));
  EXPECT_FALSE(is_ours(kUuid));
  EXPECT_FALSE(is_ours("Tenure-x"));
  EXPECT_FALSE(is_ours(""));
}

TEST(ReceiverNames, EachNameIsWhatItSays) {
  const std::string gen = "g-1";
  const std::string uuid = kUuid;
  EXPECT_EQ(prepared(uuid), ".receiver.prepare-tenure-" + uuid);
  EXPECT_EQ(released(gen, uuid), ".receiver.released-g-1-" + uuid);
  EXPECT_EQ(intent(gen), "reclaim.g-1.json");
  EXPECT_EQ(quarantined_lease(gen, kMoved, uuid), "receiver.g-1.1796034410123." + uuid);
  EXPECT_EQ(quarantined_guard(gen, kMoved, uuid), "lifecycle.g-1.1796034410123." + uuid + ".json");
  EXPECT_EQ(taken_guard(uuid), ".tenure.guard-taken-" + uuid);
  EXPECT_EQ(guard_draft(uuid), ".tenure.guard-draft-" + uuid);
}

// Of which kind each name is: no name is of two kinds, and each maker's name is of its own.
TEST(ReceiverNames, EachNameIsOfOneKind) {
  const std::string uuid = kUuid;
  const auto kinds = [](std::string_view name) {
    return std::to_string(is_prepared(name)) + std::to_string(is_own_prepared(name)) +
           std::to_string(is_released(name)) + std::to_string(is_intent(name)) + std::to_string(is_quarantined(name)) +
           std::to_string(is_taken_guard(name)) + std::to_string(is_guard_draft(name));
  };
  for (const std::string& gen : {std::string("g"), std::string("x.1.y"), std::string("a-b"), generation_of(kRandom),
                                 std::string(1000, 'x'), std::string("\xf0\x9f\x98\x80")}) {
    EXPECT_EQ(kinds(prepared(uuid)), "1100000");
    EXPECT_EQ(kinds(released(gen, uuid)), "0010000");
    EXPECT_EQ(kinds(intent(gen)), "0001000");
    EXPECT_EQ(kinds(quarantined_lease(gen, kMoved, uuid)), "0000100");
    EXPECT_EQ(kinds(quarantined_guard(gen, kMoved, uuid)), "0000100");
    EXPECT_EQ(moved_at(quarantined_lease(gen, kMoved, uuid)), kMoved);
    EXPECT_EQ(moved_at(quarantined_guard(gen, kMoved, uuid)), kMoved);
    EXPECT_EQ(kinds(taken_guard(uuid)), "0000010");
    EXPECT_EQ(kinds(guard_draft(uuid)), "0000001");
  }
  EXPECT_EQ(kinds(".receiver.prepare-a1B2c3"), "1000000");
  for (const std::string_view name :
       {kLease, kGuard, kReclaims, kQuarantine, kOwner, kSidecar, kLife, kEpochs, kEpochsNew, kRevoked, kRevokedNew}) {
    EXPECT_EQ(kinds(name), "0000000") << name;
  }
}

TEST(ReceiverNames, WhatOnlyLooksLikeOneIsNone) {
  const std::string uuid = kUuid;
  for (const std::string name : {".receiver.prepare-", ".receiver.prepare-a1B2c", ".receiver.prepare-a1B2c34",
                                 ".receiver.prepare-a1B2c/", ".receiver.prepare-tenure-", "receiver.prepare-a1B2c3"}) {
    EXPECT_FALSE(is_prepared(name)) << name;
  }
  for (const std::string& name :
       {".receiver.released-" + uuid, ".receiver.released--" + uuid, ".receiver.released-g-" + uuid.substr(1),
        ".receiver.released-g" + uuid, ".receiver.released-a b-" + uuid}) {
    EXPECT_FALSE(is_released(name)) << name;
  }
  for (const std::string name :
       {"reclaim.json", "reclaim.x.jso", "reclaim.x.json.tmp", ".reclaim.x.json", "Reclaim.x.json"}) {
    EXPECT_FALSE(is_intent(name)) << name;
  }
  EXPECT_TRUE(is_intent("reclaim..json"));
  EXPECT_TRUE(is_intent("reclaim.a b.json"));
  for (const std::string& name : {"receiver.g.12x." + uuid, "receiver.g.." + uuid, "receiver..12." + uuid,
                                  "receiver.12." + uuid, "receiver.g.12." + uuid + ".json", "lifecycle.g.12." + uuid,
                                  std::string("receiver.g.12"), "receiver.g.12345678901234567890." + uuid}) {
    EXPECT_FALSE(is_quarantined(name)) << name;
  }
  EXPECT_FALSE(is_taken_guard(".tenure.guard-taken-x"));
  EXPECT_FALSE(is_guard_draft(".tenure.guard-draft-"));
}

// "\0", "/" and ".." among them: a generation that others wrote never leaves its folder.
TEST(ReceiverNames, OfAGenerationOnlyPlainCharactersStay) {
  EXPECT_EQ(intent("../../x y"), "reclaim..._.._x_y.json");
  EXPECT_EQ(intent("aZ09._-"), "reclaim.aZ09._-.json");
  EXPECT_EQ(intent(std::string("a\0b\nc", 5)), "reclaim.a_b_c.json");
  EXPECT_EQ(intent("\xc3\xa9\xe2\x82\xac"), "reclaim.__.json") << "one for each character";
  EXPECT_EQ(intent("\xf0\x9f\x98\x80"), "reclaim.__.json") << "two UTF-16 units";
  EXPECT_EQ(intent("\xff\xfe"), "reclaim.__.json");
}

TEST(ReceiverNames, EveryNameFitsAFileName) {
  const auto earliest = WallTime{Duration{std::numeric_limits<std::int64_t>::min()}};
  for (const std::string& gen :
       {std::string(5000, 'x'), std::string(kNameGenerationBytes - 1, 'x') + "\xf0\x9f\x98\x80"}) {
    for (const std::string& name : {intent(gen), released(gen, kUuid), quarantined_lease(gen, earliest, kUuid),
                                    quarantined_guard(gen, earliest, kUuid)}) {
      EXPECT_LE(name.size(), limits::kFileNameBytes);
    }
    EXPECT_EQ(intent(gen).size(), std::string("reclaim..json").size() + kNameGenerationBytes);
  }
  EXPECT_NE(intent(std::string(kNameGenerationBytes, 'x')), intent(std::string(kNameGenerationBytes - 1, 'x')));
}

}  // namespace
}  // namespace tenure::receiver
