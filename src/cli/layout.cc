#include "cli/layout.h"

#include <algorithm>

#include "base/text.h"
#include "cli/character_width.h"

namespace tenure::cli {
namespace {

// The character at an offset; a byte that is not UTF-8 counts as one.
Character character_at(std::string_view text, std::size_t at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return {static_cast<unsigned char>(text[at]), 1};
  return decode_utf8(text, at).value_or(Character{U'?', 1});
}

// The offset just past what fits `columns`.
std::size_t offset_after(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = character_at(text, at);
    used += columns_of(character.code);
    if (used > columns) break;
    at += character.length;
  }
  return at;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    columns += columns_of(character.code);
    at += character.length;
  }
  return columns;
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (width_of(text) > columns) {
    // At least one character a line, also where a wide one does not fit.
    const std::size_t limit = std::max(offset_after(text, columns), character_at(text, 0).length);
    const std::size_t blank = text.substr(0, limit + 1).rfind(' ');
    const bool at_blank = blank != std::string_view::npos && blank > 0;
    const std::size_t end = at_blank ? blank : limit;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(at_blank ? end + 1 : end);
  }
  if (lines.empty() || !text.empty()) lines.emplace_back(text);
  return lines;
}

std::string wrapped(std::string_view text) {
  std::string out;
  for (const std::string& line : wrap(text, kColumns)) out += line + "\n";
  return out;
}

std::string hanging(std::string_view first, std::string_view text) {
  const std::size_t indent = width_of(first);
  std::string out(first);
  bool follows = false;
  for (const std::string& line : wrap(text, kColumns - std::min(indent, kColumns / 2))) {
    if (follows) out.append(indent, ' ');
    follows = true;
    out += line + '\n';
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, offset_after(text, columns - 1))) + "…";
}

std::string cell(std::string_view text, std::size_t columns) {
  std::string out = shorten(text, columns);
  out.append(columns - width_of(out), ' ');
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kBare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,=";
  if (!text.empty() && text.find_first_not_of(kBare) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char byte : text) {
    if (byte == '\'') {
      out += "'\\''";
    } else {
      out += byte;
    }
  }
  return out + "'";
}

}  // namespace tenure::cli
