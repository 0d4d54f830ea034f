// The lease record of a `files:` space: AgentMux's lease file with our fields beside its own.
// The format has a page: docs/reference/format-lease-record.md; golden files: tests/model/golden/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/evidence.h"
#include "tenure/error.h"
#include "tenure/handle.h"
#include "tenure/holder.h"
#include "tenure/terms.h"
#include "tenure/time.h"

namespace tenure {

// Our own fields, one JSON object under the key "tenure". AgentMux's readers ignore it; its writers drop it, but only
// in leases of their own.
struct LeaseExtra {
  ProcessIdentity process;                       // completes `pid` of the record
  std::optional<ProcessIdentity> owner_process;  // whom the lease is kept for
  FileIdentity life;                             // the file whose lock proves the holder's life; 0,0: none
  // The stamps of the last sign of life, and of the last extension of the TTL (claim or renew).
  MonotonicTime renewed_monotonic;
  BootTime renewed_boot;
  MonotonicTime extended_monotonic;
  BootTime extended_boot;
  Terms terms;
  std::string user_name;
  std::string command;
  std::string directory;

  friend bool operator==(const LeaseExtra&, const LeaseExtra&) = default;
};

struct LeaseRecord {
  // Required by every version of AgentMux.
  std::string instance_id;    // the whole key
  std::string owner_boot_id;  // owner label
  std::string block_id;       // part label
  std::optional<std::string> session_id;
  std::uint32_t pid = 0;
  std::int64_t acquired_at_ms = 0;  // wall clock, since 1970
  std::int64_t renewed_at_ms = 0;
  // Written by newer versions; these defaults otherwise.
  std::uint64_t epoch = 0;
  std::string hostname;
  std::uint64_t pid_start_s = 0;  // 0: unknown. We write 0: AgentMux then asks only whether the pid runs, and a step of
                                  // the wall clock cannot make a living holder look like another process.
  std::string channel;
  std::string version;
  std::string claim_id;  // empty in old records
  std::optional<LeaseExtra> extra;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

inline constexpr std::size_t kMaxRecordBytes = 64 * 1024;

// What we write is never longer than this, whatever it holds.
inline constexpr std::size_t kMaxWrittenRecordBytes = 16 * 1024;

// The record as it will stand on disk: text made valid UTF-8 and cut (labels, host and user name 256 bytes, reason
// 1024, command 512, directory 1024, ids 64; a key is never cut), a TTL in whole milliseconds (rounded up) of at most
// ten years, stamps in 0 … 2^62 ns. A record within these bounds comes back unchanged.
LeaseRecord bounded(const LeaseRecord& record);

// Two-space JSON and a newline, keys in the order above. Always parses back to bounded(record); the epoch must be below
// 2^53.
std::string encode(const LeaseRecord& record);
// Code::damaged: not JSON, not an object, a key twice, a required field missing or of the wrong type, an epoch of 2^53
// or more, nesting beyond 16. Unknown keys are ignored; trailing blanks are allowed. An "extra" object that cannot be
// read makes the whole record damaged: half a truth about a holder is none.
Result<LeaseRecord> decode_lease_record(std::string_view bytes);

// Milliseconds of a foreign record may be any number. Those more than 146 years from 1970 become that, so that neither
// they nor their distance from now overflow.
WallTime wall_time_of(std::int64_t milliseconds);

// The record as people see it. Never contains the claim id.
Holder holder_of(const LeaseRecord& record);

}  // namespace tenure
