#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace tenure {
namespace {

using namespace std::string_view_literals;

// An encoder that knows only the shapes of Unicode's table, to check the decoder against every code point.
std::string encoded(char32_t code) {
  std::string out;
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6)), put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12)), put(0x80 | ((code >> 6) & 0x3f)), put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18)), put(0x80 | ((code >> 12) & 0x3f)), put(0x80 | ((code >> 6) & 0x3f)),
        put(0x80 | (code & 0x3f));
  }
  return out;
}

TEST(Utf8, EveryScalarValueAndNoSurrogateDecodes) {
  for (char32_t code = 0; code <= 0x110fff; ++code) {
    const std::string bytes = encoded(code);
    const auto character = decode_utf8(bytes, 0);
    const bool scalar = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    ASSERT_EQ(character.has_value(), scalar) << std::hex << static_cast<unsigned>(code);
    if (!scalar) continue;
    ASSERT_TRUE(character->code == code && character->length == bytes.size());
  }
}

TEST(Utf8, OverlongFormsAreRefused) {
  for (const std::string_view text : {"\xc0\x80"sv, "\xc1\xbf"sv, "\xe0\x80\x80"sv, "\xe0\x9f\xbf"sv,
                                      "\xf0\x80\x80\x80"sv, "\xf0\x8f\xbf\xbf"sv, "\xf8\x88\x80\x80\x80"sv}) {
    EXPECT_FALSE(valid_utf8(text));
  }
}

TEST(Utf8, LoneAndMissingContinuationBytesAreRefused) {
  for (const std::string_view text : {"\x80"sv, "a\xbf"sv, "\xc3"sv, "\xe2\x82"sv, "\xe2\x28\xa1"sv, "\xf0\x9f\x92"sv,
                                      "\xe2\x82z"sv, "\xff"sv, "\xfe"sv}) {
    EXPECT_FALSE(valid_utf8(text));
  }
  EXPECT_TRUE(valid_utf8(""));
  EXPECT_TRUE(valid_utf8("straße 東京 🗝"));
}

TEST(TextFault, NamesTheFirstByteAndItsOffset) {
  const auto control = fault_in_text("ab\ncd\xff");
  ASSERT_TRUE(control);
  EXPECT_EQ(control->kind, TextFault::Kind::control);
  EXPECT_EQ(control->offset, 2U);
  EXPECT_EQ(control->byte, 0x0a);
  const auto broken = fault_in_text("é\xff\n");
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->kind, TextFault::Kind::not_utf8);
  EXPECT_EQ(broken->offset, 2U);
  EXPECT_EQ(broken->byte, 0xff);
  EXPECT_EQ(describe(*broken), "byte 0xff at offset 2 is not UTF-8");
  EXPECT_EQ(fault_in_text("plain é"), std::nullopt) << "text is no fault";
}

TEST(EscapeControls, WhatCouldMoveACursorOrTurnTextIsSpelledOut) {
  EXPECT_EQ(escape_controls("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(escape_controls("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
  EXPECT_EQ(escape_controls("\xc2\x9b"), "\\u{9b}");                      // C1: the eight-bit CSI
  EXPECT_EQ(escape_controls("\xe2\x80\xaegpj.exe"), "\\u{202e}gpj.exe");  // right-to-left override
  EXPECT_EQ(escape_controls("\xe2\x81\xa6x"), "\\u{2066}x");              // an isolate
  EXPECT_EQ(escape_controls("\xe2\x80\xa8"), "\\u{2028}");                // a line separator
  EXPECT_EQ(escape_controls("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(escape_controls("a\0b"sv), "a\\x00b");
  EXPECT_EQ(escape_controls("straße 東京 👩‍🚀"), "straße 東京 👩‍🚀");
}

TEST(CutText, NeverSplitsACharacter) {
  EXPECT_EQ(cut_text("héllo", 2), "h");
  EXPECT_EQ(cut_text("héllo", 3), "hé");
  EXPECT_EQ(cut_text("🗝x", 3), "");
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abc", 0), "");
}

TEST(Trim, TakesOuterBlanksOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(to_lower_ascii("HoST-É"), "host-É");
}

TEST(Percent, EveryByteComesBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string coded = percent_encode(all);
  EXPECT_EQ(percent_decode(coded), all);
  EXPECT_EQ(percent_encode("a b/ü:~"), "a%20b%2F%C3%BC%3A~");
  EXPECT_EQ(percent_decode("%2f%2F"), "//");
}

TEST(Percent, HalfAnEscapeIsRefused) {
  for (const char* text : {"%", "a%2", "%g0", "%0g", "%%20"}) EXPECT_EQ(percent_decode(text), std::nullopt) << text;
}

TEST(Hex, BothWays) {
  const std::array<std::uint8_t, 4> bytes{0x00, 0x7f, 0xab, 0xff};
  EXPECT_EQ(to_hex(bytes), "007fabff");
  const auto back = from_hex("007FabFF");
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::equal(back->begin(), back->end(), bytes.begin(), bytes.end()));
  for (const char* text : {"0", "0g", "g0", " 0", "0x"}) EXPECT_EQ(from_hex(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tenure
