#include "tenure/time.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace tenure {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_convertible_v<MonotonicTime, BootTime> && !std::is_convertible_v<BootTime, WallTime> &&
                  !std::is_convertible_v<WallTime, MonotonicTime>,
              "the three kinds of time must not mix");

TEST(ParseDuration, UnitsAndSums) {
  const std::pair<const char*, Duration> cases[] = {
      {"0", 0s},          {"0s", 0s},   {"250ms", 250ms},      {"90s", 90s},
      {"5m", 5min},       {"2d", 48h},  {"1h30m", 90min},      {"1d2h3m4s5ms", 93784005ms},
      {"1m1ms", 60001ms}, {"007s", 7s}, {"3650d", 24h * 3650}, {"315360000s", 24h * 3650}};
  for (const auto& [text, expected] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(ParseDuration, EverythingElseIsRefused) {
  for (const char* text : {"",
                           " ",
                           "5",
                           "00",
                           "s",
                           "5 s",
                           " 5s",
                           "5s ",
                           "-5s",
                           "+5s",
                           "1.5h",
                           "5S",
                           "5sec",
                           "30m1h",
                           "1h1h",
                           "1h30",
                           "5us",
                           "1e3s",
                           "5m\n",
                           "0x5s",
                           "5ss",
                           "3650d1ms",
                           "3651d",
                           "315360001s",
                           "99999999999999999999999999999s",
                           "18446744073709551616ms",
                           "9223372036854775807d",
                           "\xff",
                           "inf"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Code::bad_duration) << text;
    EXPECT_FALSE(parsed.error().remedy.empty());
  }
}

TEST(ParseDuration, ALongTextIsCutInTheMessage) {
  const auto parsed = parse_duration(std::string(100000, 'x'));
  ASSERT_FALSE(parsed);
  EXPECT_LT(parsed.error().message.size(), 200U);
}

TEST(Words, TwoUnitsAtMost) {
  const std::pair<Duration, const char*> cases[] = {{0s, "0 s"},          {3s, "3 s"},
                                                    {250s, "4 min 10 s"}, {125min, "2 h 5 min"},
                                                    {12ms, "12 ms"},      {1500ms, "1 s 500 ms"},
                                                    {12500ms, "12 s"},    {1h, "1 h"},
                                                    {49h, "2 d 1 h"},     {1us, "less than 1 ms"},
                                                    {-3s, "-3 s"},        {24h + 5min, "1 d"},
                                                    {3600s + 59s, "1 h"}};
  for (const auto& [duration, expected] : cases) EXPECT_EQ(words(duration), expected);
}

TEST(Words, TheExtremesHaveWordsToo) {
  EXPECT_FALSE(words(Duration::max()).empty());
  EXPECT_EQ(words(Duration::min()).front(), '-');
}

TEST(Iso8601, KnownMoments) {
  EXPECT_EQ(iso8601(WallTime::from_milliseconds(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601(WallTime::from_milliseconds(1772368496789)), "2026-03-01T12:34:56.789Z");
  EXPECT_EQ(iso8601(WallTime::from_milliseconds(951782400000)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(iso8601(WallTime{Duration{-1}}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(iso8601(WallTime{Duration::max()}), "2262-04-11T23:47:16.854Z");
}

}  // namespace
}  // namespace tenure
