#include "cli/layout.h"

#include <algorithm>

#include "base/text.h"

namespace tenure::cli {
namespace {

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

// The offset just past the first `columns` characters.
std::size_t offset_after(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (starts_character(text[at]) && seen++ == columns) return at;
  }
  return text.size();
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (width_of(text) > columns) {
    const std::size_t limit = offset_after(text, columns);
    const std::size_t blank = text.substr(0, limit + 1).rfind(' ');
    const bool at_blank = blank != std::string_view::npos && blank > 0;
    const std::size_t end = at_blank ? blank : limit;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(at_blank ? end + 1 : end);
  }
  if (lines.empty() || !text.empty()) lines.emplace_back(text);
  return lines;
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
