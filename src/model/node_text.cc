#include "model/node_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/text.h"

namespace tenure {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Which bytes may follow the first one of a character: how many, and between what the first of them lies.
struct Rest {
  std::size_t count = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xbf;
};

Rest rest_after(unsigned char first) {
  if (first >= 0xc2 && first <= 0xdf) return {.count = 1};
  if (first == 0xe0) return {.count = 2, .least = 0xa0};
  if (first == 0xed) return {.count = 2, .most = 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {.count = 2};
  if (first == 0xf0) return {.count = 3, .least = 0x90};
  if (first == 0xf4) return {.count = 3, .most = 0x8f};
  if (first >= 0xf1 && first <= 0xf3) return {.count = 3};
  return {};
}

// How many bytes at `offset` stand for one U+FFFD; no character begins there.
std::size_t broken_length(std::string_view bytes, std::size_t offset) {
  const Rest rest = rest_after(static_cast<unsigned char>(bytes[offset]));
  std::size_t length = 1;
  while (length <= rest.count && offset + length < bytes.size()) {
    const auto next = static_cast<unsigned char>(bytes[offset + length]);
    const bool fits = length == 1 ? next >= rest.least && next <= rest.most : next >= 0x80 && next <= 0xbf;
    if (!fits) break;
    ++length;
  }
  return length;
}

}  // namespace

std::string node_text(std::string_view bytes) {
  std::string out;
  for (std::size_t offset = 0; offset < bytes.size();) {
    const auto character = decode_utf8(bytes, offset);
    out += character ? bytes.substr(offset, character->length) : kReplacement;
    offset += character ? character->length : broken_length(bytes, offset);
  }
  return out;
}

std::string node_normalized(std::string_view absolute) {
  std::vector<std::string_view> kept;
  std::string_view part;
  for (std::size_t begin = 0; begin < absolute.size();) {
    const std::size_t slash = std::min(absolute.find('/', begin), absolute.size());
    part = absolute.substr(begin, slash - begin);
    begin = slash + 1;
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
  }
  std::string out;
  for (const std::string_view name : kept) out += "/" + std::string(name);
  if (out.empty() || absolute.ends_with('/')) out += '/';
  return out;
}

}  // namespace tenure
