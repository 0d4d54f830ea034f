// Text that others wrote: is it text, how is it shown without harm, how is it carried in narrow places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {

// One character of UTF-8 text.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;  // in bytes, 1 to 4
};

// The character at `offset`; nullopt where the bytes there are not valid UTF-8: overlong forms, surrogates, values
// above U+10FFFF, lone or missing continuation bytes.
std::optional<Character> decode_utf8(std::string_view text, std::size_t offset) noexcept;

bool valid_utf8(std::string_view text) noexcept;

// C0, DEL and C1.
constexpr bool is_control(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

// The first thing in `text` that has no place in one line of plain text.
struct TextFault {
  enum class Kind : std::uint8_t { not_utf8, control };
  Kind kind = Kind::not_utf8;
  std::size_t offset = 0;
  unsigned char byte = 0;  // the byte at the offset
};
// nullopt: valid UTF-8 without control characters.
std::optional<TextFault> fault_in_text(std::string_view text) noexcept;
// "byte 0xff at offset 3 is not UTF-8", "control character 0x0a at offset 3".
std::string describe(const TextFault& fault);

// Safe to print on a terminal: control characters, line separators, marks that change the direction of text or cannot
// be seen, and bytes that are not UTF-8 appear as \x1b or \u{202e}. Everything else stays as it is.
std::string escape_controls(std::string_view text);

// At most `max_bytes` of it, never cutting a character in two.
std::string_view cut_text(std::string_view text, std::size_t max_bytes) noexcept;

// Without blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text) noexcept;

// ASCII letters only; other bytes stay.
std::string to_lower_ascii(std::string_view text);

// RFC 3986: letters, digits, '-', '.', '_' and '~' stay, all else becomes %XX with upper-case digits.
std::string percent_encode(std::string_view text);
// nullopt: a '%' that two hex digits do not follow.
std::optional<std::string> percent_decode(std::string_view text);

// Lower-case hex digits, two a byte.
std::string to_hex(std::span<const std::uint8_t> bytes);
// Digits of either case; nullopt for an odd number of them or anything else.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);
// 0 to 15, or -1.
int hex_value(char digit) noexcept;

}  // namespace tenure
