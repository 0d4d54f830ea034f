#include "base/text.h"

#include <cstdio>

namespace tenure {
namespace {

constexpr std::string_view kLowerDigits = "0123456789abcdef";
constexpr std::string_view kUpperDigits = "0123456789ABCDEF";

unsigned char byte_at(std::string_view text, std::size_t offset) noexcept {
  return static_cast<unsigned char>(text[offset]);
}

// How many bytes a character takes by its first byte, and the bounds of its second one: those bounds are what shuts
// out overlong forms, surrogates and values above U+10FFFF (Unicode, table 3-7).
struct Lead {
  std::size_t length = 0;
  unsigned char second_low = 0x80;
  unsigned char second_high = 0xbf;
};

Lead lead_of(unsigned char first) noexcept {
  if (first < 0x80) return {1};
  if (first >= 0xc2 && first <= 0xdf) return {2};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {3};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {4};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0};
}

// Marks that a reader does not see but that change what is read: directions, line separators, joins of zero width.
// The two joiners that scripts need (U+200C, U+200D) stay.
bool misleads(char32_t code) noexcept {
  return code == 0x061c || code == 0x200b || (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xe0000 && code <= 0xe007f);
}

void append_escaped_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kLowerDigits[byte >> 4];
  out += kLowerDigits[byte & 15];
}

void append_escaped(std::string& out, char32_t code) {
  if (code < 0x80) return append_escaped_byte(out, static_cast<unsigned char>(code));
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "\\u{%x}", static_cast<unsigned>(code));
  out += buffer;
}

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

bool stays_in_percent(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::optional<Character> decode_utf8(std::string_view text, std::size_t offset) noexcept {
  if (offset >= text.size()) return std::nullopt;
  const unsigned char first = byte_at(text, offset);
  const Lead lead = lead_of(first);
  if (lead.length == 0 || text.size() - offset < lead.length) return std::nullopt;
  if (lead.length == 1) return Character{first, 1};
  const unsigned char second = byte_at(text, offset + 1);
  if (second < lead.second_low || second > lead.second_high) return std::nullopt;
  char32_t code = first & (0xffU >> (lead.length + 1));
  for (std::size_t i = 1; i < lead.length; ++i) {
    const unsigned char next = byte_at(text, offset + i);
    if ((next & 0xc0U) != 0x80U) return std::nullopt;
    code = (code << 6) | (next & 0x3fU);
  }
  return Character{code, lead.length};
}

bool valid_utf8(std::string_view text) noexcept {
  for (std::size_t offset = 0; offset < text.size();) {
    const auto character = decode_utf8(text, offset);
    if (!character) return false;
    offset += character->length;
  }
  return true;
}

std::optional<TextFault> fault_in_text(std::string_view text) noexcept {
  for (std::size_t offset = 0; offset < text.size();) {
    const auto character = decode_utf8(text, offset);
    if (!character) return TextFault{TextFault::Kind::not_utf8, offset, byte_at(text, offset)};
    if (is_control(character->code)) return TextFault{TextFault::Kind::control, offset, byte_at(text, offset)};
    offset += character->length;
  }
  return std::nullopt;
}

std::string describe(const TextFault& fault) {
  char buffer[80];
  if (fault.kind == TextFault::Kind::control) {
    std::snprintf(buffer, sizeof buffer, "control character with byte 0x%02x at offset %zu", fault.byte, fault.offset);
  } else {
    std::snprintf(buffer, sizeof buffer, "byte 0x%02x at offset %zu is not UTF-8", fault.byte, fault.offset);
  }
  return buffer;
}

std::string escape_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const auto character = decode_utf8(text, offset);
    if (!character) {
      append_escaped_byte(out, byte_at(text, offset));
      ++offset;
      continue;
    }
    if (is_control(character->code) || misleads(character->code)) {
      append_escaped(out, character->code);
    } else {
      out += text.substr(offset, character->length);
    }
    offset += character->length;
  }
  return out;
}

std::string_view cut_text(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  // Step back over at most three continuation bytes: more of them are no character anyway.
  for (int steps = 0; steps < 3 && end > 0 && (byte_at(text, end) & 0xc0U) == 0x80U; ++steps) --end;
  return text.substr(0, end);
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (stays_in_percent(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kUpperDigits[byte >> 4];
    out += kUpperDigits[byte & 15];
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out += kLowerDigits[byte >> 4];
    out += kLowerDigits[byte & 15];
  }
  return out;
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return out;
}

int hex_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace tenure
