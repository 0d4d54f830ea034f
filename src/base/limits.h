// Every bound in one place, and how the bounds relate. A thing that is full refuses with its name and its limit.
//
// Sizes are bytes unless the name says otherwise. A static_assert that fails here says which two bounds have come to
// contradict each other.
#pragma once

#include <chrono>
#include <cstddef>

#include "tenure/key.h"
#include "tenure/time.h"

namespace tenure::limits {

// What people and programs write.
inline constexpr std::size_t kKeyBytes = Key::kMaxBytes;
inline constexpr std::size_t kLabelBytes = 256;  // owner, part, session, channel, version
inline constexpr std::size_t kLabels = 5;
inline constexpr std::size_t kReasonBytes = 1024;
inline constexpr std::size_t kUrlBytes = 2048;
inline constexpr std::size_t kHandleBytes = 8192;
inline constexpr std::size_t kKeysAtOnce = 64;   // of one claim of several
inline constexpr std::size_t kTogether = 1'024;  // holders of one key, readers or in slots
inline constexpr std::size_t kAskReasonBytes = 512;
inline constexpr std::size_t kAnswerBytes = 256;
inline constexpr std::size_t kAsksAtOnce = 8;    // of one lease
inline constexpr std::size_t kGroupBytes = 512;  // the folder of a control group

// What we read of the system.
inline constexpr std::size_t kCommandBytes = 512;
inline constexpr std::size_t kHostBytes = 256;
inline constexpr std::size_t kUserNameBytes = 256;
inline constexpr std::size_t kPathBytes = 4096;       // PATH_MAX of Linux
inline constexpr std::size_t kFileNameBytes = 255;    // NAME_MAX of Linux
inline constexpr std::size_t kProcFileBytes = 65536;  // of any file below /proc that is read whole

// What lies on the disk.
inline constexpr std::size_t kRecordBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kSectionFileBytes = 4096;
inline constexpr std::size_t kNamesInFolder = 1'000'000;

// Waits.
inline constexpr Duration kSectionWait = std::chrono::seconds{10};  // for the short locked section of a key
inline constexpr Duration kSectionPollFirst = std::chrono::microseconds{100};
inline constexpr Duration kSectionPollMost = std::chrono::milliseconds{5};
inline constexpr Duration kWatchPoll = std::chrono::milliseconds{50};  // where the system has no watch to give
inline constexpr Duration kLongestAsk = std::chrono::hours{24};
inline constexpr Duration kLongestOffer = std::chrono::hours{1};             // so long a dead holder's key may be kept
inline constexpr Duration kLongestDuration = std::chrono::hours{24 * 3650};  // ten years

// Retries of what another process can undo under our hands: a file that changes while it is read, a name that is
// replaced between its lock and the check.
inline constexpr int kReadAttempts = 8;
inline constexpr int kRenameRaces = 1000;

// A character of JSON text takes at most six bytes (\u0000) for one of ours.
inline constexpr std::size_t kJsonGrowth = 6;
inline constexpr std::size_t kRecordOverhead = 8192;  // names of the fields, numbers, ids

static_assert(kRecordBytes >=
                  kRecordOverhead + kJsonGrowth * (kKeyBytes + kLabels * kLabelBytes + kReasonBytes + kCommandBytes +
                                                   kHostBytes + kUserNameBytes + kPathBytes),
              "the longest record must fit its bound, else a claim could write what nobody may read");
static_assert(kHandleBytes >= 3 * (kKeyBytes + kUrlBytes) + 128,
              "the longest key and URL, percent-encoded, must fit a handle");
static_assert(kUrlBytes > 3 * kKeyBytes, "a URL can name a key");
static_assert(kFileNameBytes >= 200 + 32, "a plain stem and the longest ending must fit a file name");
static_assert(kSectionPollFirst < kSectionPollMost && kSectionPollMost * 100 < kSectionWait,
              "a wait for the section must poll often within its bound");
static_assert(kWatchPoll * 10 < kSectionWait, "a poll in place of a watch is short beside any other wait");
static_assert(kLongestDuration < Duration::max() / 16, "sums of durations and instants must not overflow");

}  // namespace tenure::limits
