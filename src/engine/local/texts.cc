#include "engine/local/texts.h"

namespace tenure::local {

void add_field(std::string& text, Tag tag, std::string_view value) {
  if (value.empty() || value.size() > 0xffff) return;
  text += static_cast<char>(tag);
  text += static_cast<char>(value.size() & 0xff);
  text += static_cast<char>(value.size() >> 8);
  text += value;
}

std::string number_bytes(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::optional<std::string_view> field(std::string_view text, Tag tag) {
  while (text.size() >= 3) {
    const auto length = static_cast<std::size_t>(static_cast<std::uint8_t>(text[1])) |
                        static_cast<std::size_t>(static_cast<std::uint8_t>(text[2])) << 8;
    if (text.size() - 3 < length) return std::nullopt;
    if (static_cast<std::uint8_t>(text[0]) == static_cast<std::uint8_t>(tag)) return text.substr(3, length);
    text.remove_prefix(3 + length);
  }
  return std::nullopt;
}

std::string field_or(std::string_view text, Tag tag, std::string_view otherwise) {
  return std::string(field(text, tag).value_or(otherwise));
}

std::uint64_t number_in(std::string_view bytes, std::size_t offset, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count && offset + i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[offset + i])} << (8 * i);
  }
  return value;
}

}  // namespace tenure::local
