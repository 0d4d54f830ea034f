// The small files beside a lease record in a `files:` space. Each has a page in docs/reference and golden files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/time.h"

namespace tenure {

// `<id>.epoch`: AgentMux's counter, a decimal number and a newline; read trimmed.
std::string encode_epoch_file(Epoch epoch);
// Code::damaged: empty, not decimal, a sign, a NUL, 2^53 or more, more than 64 bytes.
Result<Epoch> decode_epoch_file(std::string_view bytes);

// The content of `<id>.lock`: our second copy of the epoch and what became of it. AgentMux never reads or truncates it.
//   tenure-note 1 <epoch> <held|free|revoked> <crc32 of the text before, 8 hex digits>\n        (blanks may follow)
struct SectionNote {
  enum class State : std::uint8_t { held, free, revoked };
  Epoch epoch;
  State state = State::free;
  friend bool operator==(const SectionNote&, const SectionNote&) = default;
};
std::string encode(const SectionNote& note);
// Code::damaged for anything else than one note; an empty file is damaged too (the caller asks for emptiness first).
Result<SectionNote> decode_section_note(std::string_view bytes);

// `<id>.seen`: when claimants first saw a record that they can judge only by watching it. JSON. At most kMaxSightings;
// the oldest entry gives way.
struct Sighting {
  std::string observer;  // boot id and time namespace of the kernel on whose clock `first_seen` lies
  std::string digest;    // SHA-256 of the record's bytes, or a mark of a damaged thing (inode, size, modification time)
  MonotonicTime first_seen;
  friend bool operator==(const Sighting&, const Sighting&) = default;
};
inline constexpr std::size_t kMaxSightings = 16;
// New sightings are put at the end: the first are the oldest.
std::string encode(const std::vector<Sighting>& sightings);
// Code::damaged, as for a lease record; also more than kMaxSightings.
Result<std::vector<Sighting>> decode_sightings(std::string_view bytes);

// `<id>.revoked.json`: the last revocation of the key: who, why, of which epoch.
struct Revocation {
  Epoch epoch;
  std::string reason;
  std::string by_user;
  std::string by_host;
  std::int64_t by_pid = 0;
  std::string by_command;
  bool forced = false;
  std::int64_t at_ms = 0;  // wall clock
  std::string was;         // one line about the holder who lost it
  friend bool operator==(const Revocation&, const Revocation&) = default;
};
inline constexpr std::size_t kMaxWasBytes = 1024;
// As it will stand on disk: text made valid UTF-8 and cut (reason and `was` 1024 bytes, command 512, names 256).
Revocation bounded(const Revocation& revocation);
// Always parses back to bounded(revocation); the epoch must be below 2^53.
std::string encode(const Revocation& revocation);
// Code::damaged, as for a lease record.
Result<Revocation> decode_revocation(std::string_view bytes);

}  // namespace tenure
