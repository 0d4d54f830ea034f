#include "model/ceiling_record.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "model/checksum.h"

namespace tenure {
namespace {

CeilingRecord sample_ceiling() {
  CeilingRecord record{.bound = Epoch(1'750'000'001'048'576),
                       .wall_seconds = 1'750'000'000,
                       .folder = {.identity = {.device = 66'306, .inode = 131'073}, .born = 1'749'999'999'123'456'789}};
  for (std::size_t i = 0; i < record.space.size(); ++i) record.space[i] = static_cast<std::uint8_t>(0xf0U + i);
  return record;
}

std::string line(const std::string& body) {
  return body + " " + crc32_hex(body) + "\n";
}

std::string why(std::string_view bytes) {
  const auto record = decode_ceiling_record(bytes);
  if (record) return "it was accepted";
  EXPECT_EQ(record.error().code, Code::damaged);
  EXPECT_FALSE(fault_in_text(record.error().message));
  return record.error().message;
}

TEST(CeilingRecord, ComesBackAsItWas) {
  CeilingRecord most{.bound = Epoch(Epoch::kLimit - 1),
                     .wall_seconds = kMaxCeilingSeconds - 1,
                     .folder = {.identity = {.device = UINT64_MAX, .inode = UINT64_MAX}, .born = UINT64_MAX}};
  most.space.fill(0xff);
  for (const CeilingRecord& record : {sample_ceiling(), most, CeilingRecord{.bound = Epoch(1)}}) {
    EXPECT_EQ(decode_ceiling_record(encode(record)).value(), record);
    EXPECT_LE(encode(record).size(), kMaxCeilingBytes);
  }
}

TEST(CeilingRecord, EveryByteCounts) {
  const std::string whole = encode(sample_ceiling());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ (1U << bit));
      EXPECT_FALSE(decode_ceiling_record(bytes)) << bytes;
    }
    EXPECT_FALSE(decode_ceiling_record(whole.substr(0, i))) << "cut after " << i;
    EXPECT_FALSE(decode_ceiling_record(whole.substr(0, i) + std::string(whole.size() - i, '\0')));
  }
  EXPECT_FALSE(decode_ceiling_record(whole + "\n"));
  EXPECT_FALSE(decode_ceiling_record(whole + whole));
}

TEST(CeilingRecord, OnlyACeilingOfThisVersionIsOne) {
  const std::string tail = " 5 1750000000 1 2 3 000102030405060708090a0b0c0d0e0f";
  EXPECT_EQ(decode_ceiling_record(line("tenure-ceiling 1" + tail)).value().bound, Epoch(5));
  EXPECT_NE(why("").find("empty"), std::string::npos);
  EXPECT_NE(why(std::string(kMaxCeilingBytes + 1, 'x')).find("longer"), std::string::npos);
  EXPECT_NE(why(line("tenure-ceiling 2" + tail)).find("begin"), std::string::npos);
  EXPECT_NE(why(line("tenure-note 1" + tail)).find("begin"), std::string::npos);
  EXPECT_NE(why(line("tenure-ceiling 1" + tail + " 7")).find("not the five"), std::string::npos);
  EXPECT_NE(why(line("tenure-ceiling 1 " + tail)).find("not the five"), std::string::npos);
  for (const std::string body :
       {"05 6 1 2 3 000102030405060708090a0b0c0d0e0f", "+5 6 1 2 3 000102030405060708090a0b0c0d0e0f",
        "5 -6 1 2 3 000102030405060708090a0b0c0d0e0f", "5 6 1 2 000102030405060708090a0b0c0d0e0f",
        "5 6 1 2 3 000102030405060708090A0B0C0D0E0F", "5 6 1 2 3 0001", "5 6 1 2 3 ",
        "5 6 1 2 18446744073709551616 000102030405060708090a0b0c0d0e0f"}) {
    EXPECT_NE(why(line("tenure-ceiling 1 " + body)).find("not the five"), std::string::npos) << body;
  }
}

TEST(CeilingRecord, ANumberPastItsLimitIsDamage) {
  CeilingRecord record = sample_ceiling();
  record.bound = Epoch(Epoch::kLimit);
  EXPECT_NE(why(encode(record)).find("2^53"), std::string::npos);
  record.bound = Epoch{};
  EXPECT_NE(why(encode(record)).find("is 0"), std::string::npos);
  record = sample_ceiling();
  record.wall_seconds = kMaxCeilingSeconds;
  EXPECT_NE(why(encode(record)).find("year"), std::string::npos);
}

}  // namespace
}  // namespace tenure
