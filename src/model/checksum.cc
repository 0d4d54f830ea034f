#include "model/checksum.h"

#include <array>
#include <boost/crc.hpp>
#include <cstdint>

#include "base/text.h"

namespace tenure {

std::string crc32_hex(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const std::uint32_t sum = crc.checksum();
  const std::array<std::uint8_t, 4> big_endian = {
      static_cast<std::uint8_t>(sum >> 24), static_cast<std::uint8_t>(sum >> 16 & 0xff),
      static_cast<std::uint8_t>(sum >> 8 & 0xff), static_cast<std::uint8_t>(sum & 0xff)};
  return to_hex(big_endian);
}

}  // namespace tenure
