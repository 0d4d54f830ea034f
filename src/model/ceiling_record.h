// `ceiling` and `ceiling.copy`: the durable bound of a local space's epoch counter. A page in docs/reference, golden
// files.
//   tenure-ceiling 1 <bound> <wall seconds> <device> <inode> <birth> <space id, 32 hex digits> <crc32, 8 hex digits>\n
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/evidence.h"
#include "tenure/epoch.h"
#include "tenure/error.h"

namespace tenure {

// What tells a folder from a copy of it.
struct FolderMark {
  FileIdentity identity;
  std::uint64_t born = 0;  // nanoseconds since 1970, 0: not known
  friend bool operator==(const FolderMark&, const FolderMark&) = default;
};

using SpaceId = std::array<std::uint8_t, 16>;

struct CeilingRecord {
  Epoch bound;                     // no epoch above it was given out when this was written
  std::uint64_t wall_seconds = 0;  // when it was written, 0: no clock could be believed; below kMaxCeilingSeconds
  FolderMark folder;               // where it was written
  SpaceId space{};
  friend bool operator==(const CeilingRecord&, const CeilingRecord&) = default;
};

inline constexpr std::uint64_t kMaxCeilingSeconds = std::uint64_t{1} << 40;
inline constexpr std::size_t kMaxCeilingBytes = 256;

std::string encode(const CeilingRecord& record);
// Code::damaged for anything but what encode() gives, byte for byte; also for a bound of 0 or of Epoch::kLimit and
// more.
Result<CeilingRecord> decode_ceiling_record(std::string_view bytes);

}  // namespace tenure
