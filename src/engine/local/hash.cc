#include "engine/local/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenure::local {

std::uint64_t hash_of(std::string_view key) noexcept {
  const std::uint64_t hash = XXH3_64bits(key.data(), key.size());
  return hash != 0 ? hash : 1;
}

}  // namespace tenure::local
