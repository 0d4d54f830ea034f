#include "tenure/key.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

using namespace std::string_view_literals;

std::string refusal(std::string_view text) {
  const auto key = Key::parse(text);
  if (key) return "accepted";
  EXPECT_EQ(key.error().code, Code::bad_key);
  return key.error().message;
}

TEST(Key, AcceptsTextAsItStands) {
  for (const std::string_view text : {"a"sv, "db/primary"sv, "../../x"sv, "."sv, "a b"sv, "東京"sv, "a:b?c=d"sv,
                                      "\xc2\xa0x"sv, "~"sv, "\xf4\x8f\xbf\xbf"sv}) {
    const auto key = Key::parse(text);
    ASSERT_TRUE(key) << text;
    EXPECT_EQ(key->text(), text);
  }
}

TEST(Key, ComparesByteForByte) {
  EXPECT_NE(*Key::parse("A"), *Key::parse("a"));
  EXPECT_NE(*Key::parse("\xc3\xa9"), *Key::parse("e\xcc\x81"));  // one é, two spellings
  EXPECT_LT(*Key::parse("a"), *Key::parse("b"));
}

TEST(Key, LengthIsOneTo512Bytes) {
  EXPECT_EQ(refusal(""), "the key is empty");
  EXPECT_EQ(refusal(std::string(512, 'x')), "accepted");
  EXPECT_NE(refusal(std::string(513, 'x')).find("513 bytes; the limit is 512"), std::string::npos);
  std::string wide;
  for (int i = 0; i < 171; ++i) wide += "東";  // 513 bytes, 171 characters: bytes count
  EXPECT_NE(refusal(wide).find("513 bytes"), std::string::npos);
}

TEST(Key, EveryControlCharacterIsRefused) {
  for (int code = 0; code < 0x20; ++code) {
    EXPECT_NE(refusal("a" + std::string(1, static_cast<char>(code)) + "b").find("at offset 1"), std::string::npos);
  }
  EXPECT_NE(refusal("ab\x7f").find("byte 0x7f at offset 2"), std::string::npos);
  for (int code = 0x80; code < 0xa0; ++code) {
    const std::string text = {'a', '\xc2', static_cast<char>(code)};
    EXPECT_NE(refusal(text).find("control character with byte 0xc2 at offset 1"), std::string::npos);
  }
}

TEST(Key, WhatIsNotUtf8IsRefusedByByteAndOffset) {
  EXPECT_NE(refusal("ab\xff").find("byte 0xff at offset 2"), std::string::npos);
  EXPECT_NE(refusal("\xc0\xaf").find("byte 0xc0 at offset 0"), std::string::npos);
  EXPECT_NE(refusal("x\xed\xa0\x80").find("byte 0xed at offset 1"), std::string::npos);
  EXPECT_NE(refusal("x\xf4\x90\x80\x80").find("byte 0xf4 at offset 1"), std::string::npos);
  EXPECT_NE(refusal("xy\xe2\x82").find("byte 0xe2 at offset 2"), std::string::npos);
}

TEST(Key, OuterBlanksAreRefused) {
  EXPECT_NE(refusal(" a").find("byte 0x20 at offset 0"), std::string::npos);
  EXPECT_NE(refusal("ab ").find("byte 0x20 at offset 2"), std::string::npos);
  EXPECT_NE(refusal(" "), "accepted");
}

}  // namespace
}  // namespace tenure
