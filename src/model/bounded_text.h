// Text as it may stand in a record: valid UTF-8 of bounded length, also when it is printed as JSON. Host names, command
// lines and paths are whatever bytes somebody chose.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure {

// Each byte that is no UTF-8 becomes U+FFFD; then cut, never inside a character, to at most `max_bytes`, and to at most
// twice as many as JSON text. (A key at its limit still fits whole: it has no control characters, and '"' and '\' take
// two bytes each.) Does nothing to what it made itself.
std::string bounded_text(std::string_view text, std::size_t max_bytes);

}  // namespace tenure
