#include "model/receiver_date.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenure {
namespace {

TEST(ReceiverDate, IsWrittenAsJavaScriptWritesIt) {
  EXPECT_EQ(receiver_date(WallTime::from_milliseconds(1796034410123)), "2026-11-30T10:26:50.123Z");
  EXPECT_EQ(receiver_date(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(receiver_date(WallTime::from_milliseconds(-1)), "1969-12-31T23:59:59.999Z");
}

// What Node 20 prints of Date.parse(text), where TZ is UTC.
TEST(ReceiverDate, FormsOfTheLanguageAreRead) {
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {"2026-11-30T10:26:50.123Z", 1796034410123},
      {"2026-11-30T10:26:50.1Z", 1796034410100},
      {"2026-11-30T10:26:50.123456789Z", 1796034410123},
      {"2026-11-30T10:26:50Z", 1796034410000},
      {"2026-11-30T10:26Z", 1796034360000},
      {"2026-11-30T10:26", 1796034360000},
      {"2026-11-30T10:26+05:30", 1796014560000},
      {"2026-11-30T10:26-00:00", 1796034360000},
      {"2026-11-30T10:26:50.123+23:59", 1795948070123},
      {"2026-11-30T24:00:00Z", 1796083200000},
      {"2026", 1767225600000},
      {"2026-11", 1793491200000},
      {"2026-11-30", 1795996800000},
      {"2026T10:00", 1767261600000},
      {"+002026-11-30T10:26:50.123Z", 1796034410123},
      {"2024-02-29", 1709164800000},
      {"1969-12-31T23:59:59.999Z", -1},
  };
  for (const auto& [text, ms] : cases) {
    const auto time = parse_receiver_date(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(*time, WallTime::from_milliseconds(ms)) << text;
  }
}

TEST(ReceiverDate, OfFarAwayTheRangeEndsWhereJavaScriptsDoes) {
  EXPECT_TRUE(parse_receiver_date("+275760-09-13T00:00:00.000Z"));
  EXPECT_FALSE(parse_receiver_date("+275760-09-13T00:00:00.001Z"));
  EXPECT_TRUE(parse_receiver_date("-271821-04-20T00:00:00.000Z"));
  EXPECT_FALSE(parse_receiver_date("-271821-04-19T23:59:59.999Z"));
  EXPECT_FALSE(parse_receiver_date("+999999-01-01"));
  EXPECT_EQ(parse_receiver_date("-000001-01-01"), parse_receiver_date("0001-01-01")) << "both past what is shown";
  EXPECT_LT(*parse_receiver_date("-000001-01-01"), *parse_receiver_date("1900"));
  EXPECT_GT(*parse_receiver_date("+100000-01-01"), *parse_receiver_date("2100"));
  for (const std::string text : {"2400-02-29", "0000-02-29", "-000004-02-29", "-000400-02-29", "+010000-02-29"}) {
    EXPECT_TRUE(parse_receiver_date(text)) << text;
  }
  for (const std::string text : {"2100-02-29", "-000001-02-29", "-000300-02-29", "+010001-02-29"}) {
    EXPECT_FALSE(parse_receiver_date(text)) << text;
  }
}

TEST(ReceiverDate, AllElseIsRefused) {
  for (const std::string text : {"",
                                 "now",
                                 "2",
                                 "202",
                                 "20261130",
                                 "2026-1-30",
                                 "2026-11-3",
                                 "2026-13-01",
                                 "2026-00-10",
                                 "2026-11-00",
                                 "2026-11-31",
                                 "2026-02-29",
                                 "-000000-01-01",
                                 "+2026-11-30",
                                 "26-11-30",
                                 "2026-11-30T",
                                 "2026-11-30T10",
                                 "2026-11-30T10Z",
                                 "2026-11-30T10:2",
                                 "2026-11-30T25:00",
                                 "2026-11-30T24:01",
                                 "2026-11-30T24:00:00.001Z",
                                 "2026-11-30T10:60",
                                 "2026-11-30T10:26:60Z",
                                 "2026-11-30T10:26:50.Z",
                                 "2026-11-30T10:26:50,1Z",
                                 "2026-11-30T10:26:50.1234567890Z",
                                 "2026-11-30t10:26:50z",
                                 "2026-11-30 10:26",
                                 " 2026-11-30",
                                 "2026-11-30 ",
                                 "2026-11-30Z",
                                 "2026-11-30T10:26+0530",
                                 "2026-11-30T10:26+24:00",
                                 "2026-11-30T10:26+05:60",
                                 "2026-11-30T10:26ZZ",
                                 "2026-11-30T10:26Z+01:00",
                                 "Mon, 30 Nov 2026 10:26:50 GMT",
                                 "1796034410123"}) {
    EXPECT_FALSE(parse_receiver_date(text)) << text;
  }
}

// Day by day, 1833 to 2106.
TEST(ReceiverDate, EveryDayComesBack) {
  for (std::int64_t day = -50'000; day <= 50'000; ++day) {
    const auto time = WallTime::from_milliseconds(day * 86'400'000 + 12'345'678);
    ASSERT_EQ(parse_receiver_date(receiver_date(time)), time) << receiver_date(time);
  }
}

}  // namespace
}  // namespace tenure
