// The sidecar of a fenced file: which key of which space guards it, and the highest epoch that was seen. A page in
// docs/reference, a golden file.
//   tenure-fence 1 <epoch> <key, percent-encoded> <space, percent-encoded> <crc32, 8 hex digits>\n
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/key.h"

namespace tenure {

struct FenceRecord {
  Epoch epoch;        // the highest that a writer was let in with; never none
  std::string key;    // a key
  std::string space;  // names the space, whatever its options: see compose::space_identity()
  friend bool operator==(const FenceRecord&, const FenceRecord&) = default;
};

inline constexpr std::size_t kMaxFenceBytes = 8192;

std::string encode(const FenceRecord& record);
// Code::damaged for anything but what encode() gives, byte for byte; of another version too, then with a remedy.
Result<FenceRecord> decode_fence_record(std::string_view bytes);

// The names beside a fenced file, in its folder; made here and nowhere else.
//
// A file name of 1 to 200 bytes of [A-Za-z0-9._-] is its own stem; any other is '~' and the 64 lower-case hex digits of
// its SHA-256. '~' is not in the set, and no ending ends with another one: so no two files share a name.
struct FenceNames {
  static constexpr int kDrafts = 8;  // so many writers of one file at once

  std::string record;     // .<stem>.fence
  std::string lock;       // .<stem>.fence.lock   never removed
  std::string temporary;  // .<stem>.fence.tmp    owned by whoever has the lock
  std::string drafts;     // .<stem>.fence.draft- and a digit: owned by the writer that has it locked
  std::string draft(int number) const { return drafts + std::to_string(number); }
};

FenceNames fence_names(std::string_view file_name);
// Whether such a name is made for some file: no file to be fenced itself.
bool is_fence_name(std::string_view file_name);

}  // namespace tenure
