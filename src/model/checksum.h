// CRC-32 (the one of zip and Ethernet): tells a torn or mistyped line from a whole one. It proves nothing about who
// wrote it.
#pragma once

#include <string>
#include <string_view>

namespace tenure {

// 8 lower-case hex digits.
std::string crc32_hex(std::string_view bytes);

}  // namespace tenure
