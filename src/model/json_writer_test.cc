#include "model/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenure {
namespace {

TEST(JsonWriter, IndentsAsSerdeDoes) {
  JsonWriter out;
  out.open_object();
  out.text("a", "b");
  out.open_array("empty");
  out.close_array();
  out.open_object("inner");
  out.null("n");
  out.truth("t", true);
  out.close_object();
  out.open_array("list");
  out.open_object();
  out.close_object();
  out.open_object();
  out.truth("f", false);
  out.close_object();
  out.close_array();
  out.close_object();
  EXPECT_EQ(out.finish(), R"({
  "a": "b",
  "empty": [],
  "inner": {
    "n": null,
    "t": true
  },
  "list": [
    {},
    {
      "f": false
    }
  ]
}
)");
}

TEST(JsonWriter, WritesNumbersAtTheirLimits) {
  JsonWriter out;
  out.open_object();
  out.number("i", std::numeric_limits<std::int64_t>::min());
  out.number("u", std::numeric_limits<std::uint64_t>::max());
  out.big_number("b", std::numeric_limits<std::uint64_t>::max());
  out.close_object();
  EXPECT_EQ(
      out.finish(),
      "{\n  \"i\": -9223372036854775808,\n  \"u\": 18446744073709551615,\n  \"b\": \"18446744073709551615\"\n}\n");
}

// serde_json escapes what JSON demands, in these forms, and nothing else.
TEST(JsonWriter, EscapesOnlyWhatJsonDemands) {
  EXPECT_EQ(json_quoted("\"\\/"), R"("\"\\/")");
  EXPECT_EQ(json_quoted("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(json_quoted(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(json_quoted("é€😀"), "\"é€😀\"");
}

}  // namespace
}  // namespace tenure
