#include "model/bounded_text.h"

#include "base/text.h"
#include "model/json_writer.h"

namespace tenure {

std::string bounded_text(std::string_view text, std::size_t max_bytes) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  std::size_t printed = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const auto character = decode_utf8(text, offset);
    const std::string_view next = character ? text.substr(offset, character->length) : kReplacement;
    const std::size_t width = json_quoted(next).size() - 2;
    if (out.size() + next.size() > max_bytes || printed + width > 2 * max_bytes) break;
    out += next;
    printed += width;
    offset += character ? character->length : 1;
  }
  return out;
}

}  // namespace tenure
