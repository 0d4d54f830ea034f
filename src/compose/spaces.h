// Spaces as things with a place: which there are, and how one is made, moved, purged and repaired. `memory:` has no
// place and is refused by name; of `local:` and `system:` spaces local_spaces.h does the work.
//
// Moving and purging are safe against claims made at the same time. Of a files: space the folder `leases` of the space
// is first exchanged with a file, in one step: from then on nobody can open it by its path, and a claimant who had it
// open finds, after it wrote its record, that its folder no longer lies in place, and takes the claim back. Only then
// the records are looked at; if somebody holds a key, the folder is exchanged back and the call is refused. A crash in
// the middle leaves the folder under its private name, where list_spaces() shows it; init_space() puts it back,
// purge_space() and move_space() finish it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/inside.h"
#include "engine/local/wanted_limits.h"
#include "tenure/error.h"
#include "tenure/holder.h"

namespace tenure::compose {

struct SpaceInfo {
  std::string name;         // the last part of its path
  std::string url;          // opens it
  std::string path;         // absolute: DIR of files:DIR, the folder that has `leases` in it
  std::string engine;       // "files", "local", "receiver"
  std::string file_system;  // "ext4"; empty when it cannot be asked
  std::size_t files = 0;    // of the space
  std::uint64_t bytes = 0;  // allotted to them
  // Keys with a record: of holders that live or may live, of dead ones, and records that cannot be read.
  std::size_t held = 0;
  std::size_t dead = 0;
  std::size_t damaged = 0;
  std::optional<LocalSight> inside;  // of a local space that was used since the machine started
  bool exists = true;                // false: chosen by the caller, and not made yet
  bool is_default = false;           // used when neither --space nor TENURE_SPACE names one
  bool is_chosen = false;            // the one of the caller's URL
  bool interrupted = false;          // a move or a purge did not come to its end; see the notes for the way out
  std::optional<Error> error;        // why it could not be looked into; the counts are then zero
  std::vector<std::string> notes;
};

struct SpaceList {
  std::string state_folder;        // where the spaces of this user lie
  std::string origin;              // why there: "the home in the password database"
  std::vector<std::string> notes;  // what differs and is not followed
  std::vector<SpaceInfo> spaces;   // by name; the chosen one, if it lies elsewhere, comes last
};

// Every space under the state folder, the system: spaces, and the one of `chosen_url` (an empty one: the default). A
// broken space is an entry with an error. Code::bad_url, Code::unsupported for the chosen URL alone.
Result<SpaceList> list_spaces(std::string_view chosen_url);

inline constexpr std::uint32_t kMostKeys = local::kMostKeys;
inline constexpr std::uint32_t kMostMembers = local::kMaxMembers;
// What init_space() is to make room for; only of local: and system: spaces.
struct SpaceLimits {
  std::optional<std::uint32_t> keys;     // held at once
  std::optional<std::uint32_t> members;  // processes that have it open
};

struct InitOutcome {
  SpaceInfo space;
  bool was_there = false;
  bool put_back = false;  // it had been left behind by an interrupted move or purge
  std::vector<std::string> notes;
};
// Makes the space and whatever folders are missing above it (0700; with group=yes the space itself is 2770). Doing it
// again changes nothing. Code::unsafe_folder, Code::unsuitable_folder, Code::not_permitted, …; memory: is
// Code::unsupported. With limits a table that has others is made anew: Code::holder_live while anybody has it open.
Result<InitOutcome> init_space(std::string_view url, const SpaceLimits& limits = {});

struct MoveOutcome {
  std::string from;  // absolute paths
  std::string to;
  std::string url;  // opens it from now on
};
// Gives the space another path on the same file system. `new_path` must be free and its parent must exist. Refused and
// nothing changed: Code::holder_live while a key is held by a holder that lives or may live (the message names them,
// `holder` is the first), Code::unsupported across file systems or where names cannot be exchanged,
// Code::section_busy while another process moves or purges it, Code::unreachable when there is no such space.
// Code::unknown_outcome: on its way when the system failed; the message says where it lies.
Result<MoveOutcome> move_space(std::string_view url, const std::string& new_path);

struct PurgeOutcome {
  std::string path;
  std::size_t removed = 0;         // files
  bool folder_removed = false;     // DIR itself is gone; false when something foreign lies in it
  std::vector<std::string> left;   // foreign names, relative to `path`
  std::vector<std::string> notes;  // "it had been left behind by an interrupted move or purge"
};
// Removes the records of the space, and its folders if nothing else lies in them. Epochs of its keys are forgotten with
// it. Refused as move_space is; `force` lets it go on where holders only may live (of another machine, or damaged), but
// never while one is known to live.
Result<PurgeOutcome> purge_space(std::string_view url, bool force);

struct RepairOutcome {
  SpaceInfo space;
  std::vector<std::string> notes;
};
// The operator's way out of Code::epoch_unreadable of a local: or system: space: its ceiling is written anew, above
// whatever can be read and above the clock. The reason is kept in the log of the space. Code::unsupported for others.
Result<RepairOutcome> repair_space(std::string_view url, const std::string& reason);

}  // namespace tenure::compose
