#include "compose/space_url.h"

#include <gtest/gtest.h>

namespace tenure::compose {
namespace {

TEST(SpaceUrl, LocalAndSystemSpacesComeBackAsTheyWere) {
  for (const char* text : {"local:", "local:ci", "local:a.b_c-D9", "local:/srv/x", "local:/srv/a%20b?volatile",
                           "local:?volatile&owner=any&group=yes", "system:", "system:team", "system:team?owner=any"}) {
    const auto url = parse_space_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error().message;
    EXPECT_EQ(url->kind, SpaceUrl::Kind::local);
    EXPECT_EQ(text_of(*url), text);
    EXPECT_EQ(*parse_space_url(text_of(*url)), *url);
  }
  EXPECT_EQ(text_of(*parse_space_url("local:default")), "local:");
  EXPECT_EQ(text_of(*parse_space_url("system:default")), "system:");
}

TEST(SpaceUrl, ReceiverSpacesComeBackAsTheyWere) {
  for (const char* text : {"receiver:/srv/ns", "receiver:ns", "receiver:/a%20b?root=agent-7",
                           "receiver:/ns?root=a%26b&namespaces=one&owner=any&group=yes"}) {
    const auto url = parse_space_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error().message;
    EXPECT_EQ(url->kind, SpaceUrl::Kind::receiver);
    EXPECT_EQ(text_of(*url), text);
  }
  EXPECT_EQ(parse_space_url("receiver:/ns?root=a%26b")->root, "a&b");
  for (const std::string& text : {std::string("receiver:"), std::string("receiver:/ns?root="),
                                  "receiver:/ns?root=" + std::string(257, 'r'), std::string("receiver:/ns?root=a%0Ab"),
                                  std::string("receiver:/ns?volatile"), std::string("receiver:/ns?namespaces=two"),
                                  std::string("files:/ns?root=x"), std::string("files:/ns?volatile")}) {
    const auto url = parse_space_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Code::bad_url) << text;
  }
}

TEST(SpaceUrl, WhoSharesASystemSpaceIsItsGroup) {
  EXPECT_TRUE(parse_space_url("system:team")->group_ok);
  EXPECT_FALSE(parse_space_url("local:team")->group_ok);
}

TEST(SpaceUrl, NamesAndOptionsThatCannotBe) {
  for (const std::string& text :
       {std::string("local:.hidden"), std::string("local:a/b"), std::string("local:a b"),
        "local:" + std::string(65, 'n'), std::string("system:/srv"), std::string("system:.."), std::string("local:?"),
        std::string("local:?expiry=age"), std::string("local:?volatile=yes"), std::string("local:?volatile&volatile"),
        std::string("files:x?volatile"), std::string("local:/a%zz"), std::string("local:/a#b")}) {
    const auto url = parse_space_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Code::bad_url) << text;
  }
  EXPECT_TRUE(parse_space_url("local:" + std::string(64, 'n')));
}

}  // namespace
}  // namespace tenure::compose
