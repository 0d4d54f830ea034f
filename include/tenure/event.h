// Event: one thing that happened to a key of a space. What Space::log() gives and `tenure log` shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tenure/epoch.h"
#include "tenure/time.h"

namespace tenure {

enum class EventKind : std::uint8_t {
  claimed,      // a free key was granted
  handed_over,  // to the next in line, by a release, or to whom its holder had offered it
  taken_over,   // the holder was proven dead, or past its TTL
  released,
  renewed,
  revoked,
  lost,         // its member is over though its process lives
  passed_over,  // the next in line did not stir, and another was granted the key
  repaired,     // somebody died while changing the table, or an operator mended the space
  asked,        // somebody asks the holder to yield
  answered,     // the holder accepted or declined
  offered,      // the holder offers it to a successor
  withdrawn,    // the holder does so no more
  handed_off,   // the successor adopted it: this epoch is over
};
std::string_view word_of(EventKind kind);  // "handed over"

// For people and for audits; nothing is decided by it.
struct Event {
  std::uint64_t number = 0;  // rises within what a space remembers; not every number is used
  EventKind kind = EventKind::claimed;
  WallTime at;
  std::string key;  // empty: of the space itself. The end of a long one may be missing, of the texts below too
  Epoch epoch;
  std::int32_t pid = 0;  // who did it, in its own pid namespace
  std::string owner;
  std::string why;
};

}  // namespace tenure
