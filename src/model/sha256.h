// SHA-256 (FIPS 180-4): for file names of long keys and for marks of records. Not a secret's keeper: no constant time
// is promised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure {

class Sha256 {
 public:
  void update(std::string_view bytes);
  // The digest of all that was given. The object is spent afterwards.
  std::array<std::uint8_t, 32> finish();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_bytes_ = 0;
};

// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace tenure
