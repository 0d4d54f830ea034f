#include "rules/ceiling.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tenure::rules {
namespace {

using Reading = CeilingCopy::Reading;

// A wall clock that shows less was never set.
constexpr std::uint64_t kYear2020Seconds = 1'577'836'800;
constexpr std::uint64_t kLast = Epoch::kLimit - 1;
constexpr const char* kRepair = "tenure space repair --space URL --reason 'the ceiling is lost'";

// What the copies say together.
struct Known {
  int readable = 0;
  int missing = 0;
  bool foreign = false;  // a readable one was written elsewhere, or the two name two spaces
  std::uint64_t highest = 0;
  std::uint64_t lowest = 0;
  std::uint64_t written = 0;  // seconds, the latest
  SpaceId space{};            // of the first that was written here
};

// Nobody writes such numbers; where they come from, no other number is believed either.
CeilingCopy weigh(const CeilingCopy& copy) {
  if (copy.reading != Reading::value) return {copy.reading, {}};
  const CeilingRecord& record = copy.record;
  const bool credible = record.bound.credible() && !record.bound.none() && record.wall_seconds < kMaxCeilingSeconds;
  return credible ? copy : CeilingCopy{Reading::unreadable, {}};
}

Known know(const CeilingSight& sight) {
  Known known;
  for (const CeilingCopy& copy : {weigh(sight.first), weigh(sight.second)}) {
    known.missing += copy.reading == Reading::missing ? 1 : 0;
    if (copy.reading != Reading::value) continue;
    const std::uint64_t bound = copy.record.bound.value();
    const bool first = known.readable++ == 0;
    known.foreign |= !same_folder(copy.record.folder, sight.here) || (!first && copy.record.space != known.space);
    known.highest = std::max(known.highest, bound);
    known.lowest = first ? bound : std::min(known.lowest, bound);
    known.written = std::max(known.written, copy.record.wall_seconds);
    if (first) known.space = copy.record.space;
  }
  return known;
}

struct WallReading {
  std::uint64_t seconds = 0;  // 0: not to be used
  std::string why_not;
  std::uint64_t epoch() const { return seconds * kEpochsPerWallSecond; }
};

// `written` 0: however late it shows.
WallReading read_wall(WallTime now, std::uint64_t written) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now.since_origin).count();
  const std::string shown = "the clock of this machine shows " + iso8601(now);
  if (seconds < static_cast<std::int64_t>(kYear2020Seconds)) return {0, shown + ": it was never set, and is not used"};
  const auto value = static_cast<std::uint64_t>(seconds);
  if (value >= (kLast - kCeilingBlock) / kEpochsPerWallSecond) return {0, shown + ", which cannot be, and is not used"};
  if (written != 0 && value > written + kBelievedSeconds) {
    return {0, shown + ", more than ten years after the last writing of the ceiling, and is not used"};
  }
  return {value, ""};
}

std::unexpected<Error> unreadable(std::string why, std::string remedy) {
  return fail(Code::epoch_unreadable, std::move(why), std::move(remedy));
}

std::unexpected<Error> exhausted(std::uint64_t value) {
  return fail(Code::epoch_exhausted, "the epochs of this space have come to " + std::to_string(value) +
                                         ", and they end below " + std::to_string(Epoch::kLimit));
}

Result<CeilingStart> start_at(std::uint64_t start, const Known& known, const WallReading& wall,
                              std::vector<std::string> notes) {
  if (start >= kLast) return exhausted(start);
  CeilingStart decided;
  decided.start = Epoch(start);
  decided.bound = Epoch(start + std::min(kCeilingBlock, kLast - start));
  decided.wall_seconds = wall.seconds != 0 ? wall.seconds : known.written;
  decided.new_space = known.readable == 0 || known.foreign;
  if (!decided.new_space) decided.space = known.space;
  if (!wall.why_not.empty()) notes.push_back(wall.why_not);
  decided.notes = std::move(notes);
  return decided;
}

std::optional<std::string> note_of_copies(const Known& known) {
  if (known.readable == 2) return std::nullopt;
  const std::string what = known.missing > 0 ? "missing" : "damaged";
  return "one copy of the ceiling was " + what + "; the epochs go on from the other, and it was written anew";
}

Result<CeilingStart> start_of_nothing(const CeilingSight& sight, const Known& known) {
  if (known.missing < 2) {
    return unreadable("the ceiling of this space's epochs is damaged and no copy of it can be read", kRepair);
  }
  if (sight.used_before) {
    return unreadable("the ceiling of this space's epochs is gone, both copies of it, and the space was used before",
                      kRepair);
  }
  const WallReading wall = read_wall(sight.now, 0);
  if (wall.seconds == 0) {
    return unreadable("the epochs of a new space begin with the clock, and " + wall.why_not,
                      "set the clock of this machine and come again");
  }
  return start_at(wall.epoch(), known, wall, {});
}

}  // namespace

bool same_folder(const FolderMark& recorded, const FolderMark& here) {
  if (recorded.born != 0 && here.born != 0) {
    return recorded.born == here.born && recorded.identity.inode == here.identity.inode;
  }
  return recorded.identity == here.identity;
}

Result<CeilingStart> start_above(const CeilingSight& sight) {
  const Known known = know(sight);
  if (known.readable == 0) return start_of_nothing(sight, known);
  const WallReading wall = read_wall(sight.now, known.written);
  std::vector<std::string> notes;
  if (auto note = note_of_copies(known)) notes.push_back(std::move(*note));
  if (!known.foreign) return start_at(std::max(known.highest, wall.epoch()), known, wall, std::move(notes));
  if (wall.seconds == 0) {
    return unreadable("this folder was copied or restored, so its ceiling may be an old one, and " + wall.why_not,
                      "set the clock of this machine and come again; or, if it is right: " + std::string(kRepair));
  }
  const std::uint64_t start = std::max(known.highest + kCopiedJump, wall.epoch());
  notes.push_back("this folder was copied or restored; its epochs go on above " + std::to_string(start));
  return start_at(start, known, wall, std::move(notes));
}

Result<CeilingStart> repaired_start(const CeilingSight& sight) {
  const Known known = know(sight);
  const WallReading wall = read_wall(sight.now, 0);
  if (known.readable == 0 && wall.seconds == 0) {
    return unreadable("no copy of the ceiling can be read, and " + wall.why_not,
                      "set the clock of this machine and repair again");
  }
  const std::uint64_t above = known.readable == 0 ? 0 : known.highest + kCopiedJump;
  const std::uint64_t start = std::max(above, wall.epoch());
  return start_at(start, known, wall,
                  {"the ceiling was repaired by force; the epochs go on above " + std::to_string(start)});
}

Result<CeilingRaise> raised_bound(const CeilingSight& sight, Epoch needed) {
  const std::uint64_t from = needed.value();
  if (from >= kLast) return exhausted(from);
  const Known known = know(sight);
  const std::uint64_t room = kLast - from;
  CeilingRaise raise;
  raise.stands = known.readable == 2 && !known.foreign && known.lowest >= from + std::min(kCeilingBlock / 2, room);
  raise.bound = Epoch(raise.stands ? known.lowest : std::max(from + std::min(kCeilingBlock, room), known.highest));
  const WallReading wall = read_wall(sight.now, known.written);
  raise.wall_seconds = wall.seconds != 0 ? wall.seconds : known.written;
  raise.new_space = known.readable == 0 || known.foreign;
  if (!raise.new_space) raise.space = known.space;
  return raise;
}

}  // namespace tenure::rules
