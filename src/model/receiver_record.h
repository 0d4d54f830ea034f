// The records of pi-amq's receiver lease: the owner, and the guard that serialises whoever changes it. Its format, not
// ours: every field is demanded and no other is allowed. A page: docs/reference/format-receiver.md; golden files:
// tests/model/golden, tests/interop/pi-amq.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/receiver_date.h"
#include "tenure/error.h"

namespace tenure {

// What owner, guard and intent records share: which process wrote it.
struct ReceiverProcess {
  std::string generation;                    // a new one for each owner and each guard
  std::uint64_t pid = 0;                     // 1 to 2^53-1
  std::string start_identity;                // Linux: start ticks, decimal
  std::optional<std::string> boot_identity;  // Linux: boot id
  std::string executable;                    // absolute, normalised
  std::string hostname;
  std::string created_at;  // as written

  friend bool operator==(const ReceiverProcess&, const ReceiverProcess&) = default;
};

struct ReceiverOwner {
  ReceiverProcess process;
  std::string session_id;
  std::string session_file;  // absolute, normalised
  std::string root_id;

  friend bool operator==(const ReceiverOwner&, const ReceiverOwner&) = default;
};

inline constexpr std::uint64_t kMaxReceiverPid = (std::uint64_t{1} << 53) - 1;
// Longer ones are not read. Fields within our limits (paths kPathBytes, names and labels) never get there.
inline constexpr std::size_t kMaxReceiverBytes = std::size_t{64} * 1024;

// Two-space JSON and a newline, schema 1, the keys in pi-amq's order. Bytes that are no UTF-8 become what Node would
// read in their place, see node_text(); nothing is cut, because pi-amq compares these fields with what it sees itself.
// Read back as it was if every field is what the decoder wants.
std::string encode(const ReceiverOwner& owner);
// A guard or an intent.
std::string encode(const ReceiverProcess& process);

// Code::damaged, with the reason: not JSON, not an object, a key twice, missing or not of the schema; another schema; a
// field of another type or empty; a pid that is no whole number from 1 to 2^53-1; a path that is not absolute; a date
// that parse_receiver_date() does not read. Paths are normalised, the date stays as it stands there.
Result<ReceiverOwner> decode_receiver_owner(std::string_view bytes);
Result<ReceiverProcess> decode_receiver_guard(std::string_view bytes);
// Of a record that is refused, what still names its process: pid, start, boot and host. For asking whether that process
// lives, and for nothing else.
std::optional<ReceiverProcess> remains_of_receiver(std::string_view bytes);

}  // namespace tenure
