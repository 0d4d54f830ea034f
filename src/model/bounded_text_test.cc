#include "model/bounded_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/json_writer.h"

namespace tenure {
namespace {

TEST(BoundedText, LeavesTextWithinItsBoundAlone) {
  EXPECT_EQ(bounded_text("", 8), "");
  EXPECT_EQ(bounded_text("12345678", 8), "12345678");
  EXPECT_EQ(bounded_text("a\nb", 8), "a\nb");
}

TEST(BoundedText, NeverCutsACharacter) {
  const std::string euros = "€€€";  // three bytes each
  EXPECT_EQ(bounded_text(euros, 8), "€€");
  EXPECT_EQ(bounded_text(euros, 6), "€€");
  EXPECT_EQ(bounded_text(euros, 5), "€");
  EXPECT_EQ(bounded_text(euros, 2), "");
}

TEST(BoundedText, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(bounded_text("a\xff"
                         "b",
                         8),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(bounded_text("\xe2\x82", 8), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(bounded_text("abcdef\xff", 8), "abcdef");
}

TEST(BoundedText, BoundsItsJsonToo) {
  const std::string printed = json_quoted(bounded_text(std::string(100, '\x01'), 12));
  EXPECT_EQ(printed, R"("\u0001\u0001\u0001\u0001")");
  const std::string quotes(12, '"');
  EXPECT_EQ(bounded_text(quotes, 12), quotes) << "the worst that a key can hold fits whole";
}

}  // namespace
}  // namespace tenure
