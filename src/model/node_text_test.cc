#include "model/node_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tenure {
namespace {

constexpr const char* kMark = "\xef\xbf\xbd";

std::string marks(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += kMark;
  return text;
}

// What Node 20 prints of Buffer.from(bytes).toString().
TEST(NodeText, BrokenCharactersAreReadAsNodeDoes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xff", marks(1)},
      {"\xe2\x82", marks(1)},
      {"\xe2\x82"
       "A",
       marks(1) + "A"},
      {"\xf0\x9f\x98", marks(1)},
      {"\xf0\x9f\x98"
       "A",
       marks(1) + "A"},
      {"\xf0\x9f", marks(1)},
      {"\xf0", marks(1)},
      {"\xc0\xaf", marks(2)},
      {"\xe0\x80\x80", marks(3)},
      {"\xed\xa0\x80", marks(3)},
      {"\xf4\x90\x80\x80", marks(4)},
      {"\xc3"
       "A",
       marks(1) + "A"},
      {"\x80\x80", marks(2)},
      {"\xe2\xe2\x82\xac", marks(1) + "\xe2\x82\xac"},
      {"\xf8\x88\x80\x80", marks(4)},
  };
  for (const auto& [bytes, text] : cases) EXPECT_EQ(node_text(bytes), text);
}

TEST(NodeText, TextStaysAsItIs) {
  const std::string text("a\0\n\x7f\xc2\x85\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbb\xbf", 17);
  EXPECT_EQ(node_text(text), text);
  EXPECT_EQ(node_text(""), "");
}

// What Node 20 prints of path.posix.normalize(path).
TEST(NodeText, PathsAreNormalisedAsNodeDoes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/a/b/", "/a/b/"}, {"/a/b/..", "/a"},   {"/..", "/"},     {"//a", "/a"},        {"///a//b", "/a/b"},
      {"/a/./b", "/a/b"}, {"/a/b/../", "/a/"}, {"/", "/"},       {"/.", "/"},          {"/a/.", "/a"},
      {"/a/b/.", "/a/b"}, {"/a/..", "/"},      {"/...", "/..."}, {"/a/..b", "/a/..b"}, {"/a/../../b", "/b"},
  };
  for (const auto& [path, normal] : cases) {
    EXPECT_EQ(node_normalized(path), normal) << path;
    EXPECT_EQ(node_normalized(normal), normal);
  }
}

}  // namespace
}  // namespace tenure
