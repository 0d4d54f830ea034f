// Where a new table's epochs begin, and how far a durable bound is raised: pure verdicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ceiling_record.h"
#include "tenure/time.h"

namespace tenure::rules {

// How many epochs one writing of the bound is good for.
inline constexpr std::uint64_t kCeilingBlock = std::uint64_t{1} << 20U;
// How far a copied or restored folder jumps beside the clock: well above what was given out since by one whose clock
// did not move much.
inline constexpr std::uint64_t kCopiedJump = std::uint64_t{1} << 32U;
// The clock on the wall is believed up to this long after the last writing.
inline constexpr std::uint64_t kBelievedSeconds = std::uint64_t{10} * 365 * 24 * 3600;
inline constexpr std::uint64_t kEpochsPerWallSecond = 1'000'000;

struct CeilingCopy {
  enum class Reading : std::uint8_t { missing, unreadable, value };
  Reading reading = Reading::missing;
  CeilingRecord record;  // when value
};

struct CeilingSight {
  CeilingCopy first;
  CeilingCopy second;
  bool used_before = false;  // something else in the folder says that it had a ceiling, or a table
  FolderMark here;
  WallTime now;
};

struct CeilingStart {
  Epoch start;                     // above every epoch that was ever given out
  Epoch bound;                     // to be made durable before any above `start` is given out
  std::uint64_t wall_seconds = 0;  // the stamp to write with it
  bool new_space = false;          // another space than the records name: it needs a new id
  SpaceId space{};                 // of the records, when it is not new
  std::vector<std::string> notes;
};

// The greatest of every readable bound and the clock's epoch (seconds × 10^6).
//   one copy missing or unreadable             goes on from the other, with a note
//   none readable, one unreadable, or used     Code::epoch_unreadable
//   none there, never used                     the clock alone; Code::epoch_unreadable where it was never set
//   of another folder (copied, restored)       as above, and kCopiedJump above the bounds, with a note;
//                                              Code::epoch_unreadable where the clock cannot be used
// The clock is not used, with a note, before 2020, when it shows more than kBelievedSeconds after the last writing, and
// where it leaves no room for epochs.
// Code::epoch_exhausted at the limit.
Result<CeilingStart> start_above(const CeilingSight& sight);

// By an operator's word: missing and unreadable copies are passed over, and the clock is believed however far it went.
// Code::epoch_unreadable where nothing is readable and the clock was never set.
Result<CeilingStart> repaired_start(const CeilingSight& sight);

struct CeilingRaise {
  Epoch bound;
  std::uint64_t wall_seconds = 0;
  bool new_space = false;
  SpaceId space{};
  bool stands = false;  // both copies reach half a block above `needed` already: nothing is to be written
};
// A block above `needed`, and never below a bound that can be read: a table in use knows better than any file.
// Code::epoch_exhausted where `needed` is the last there is.
Result<CeilingRaise> raised_bound(const CeilingSight& sight, Epoch needed);

// Whether a record was written in this folder. By inode and birth where both births are known: the number of a device
// may change with a boot.
bool same_folder(const FolderMark& recorded, const FolderMark& here);

}  // namespace tenure::rules
