// Parts that several of our records have in common, written and read in one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "model/evidence.h"
#include "model/json_reader.h"
#include "model/json_writer.h"
#include "tenure/holder.h"
#include "tenure/terms.h"

namespace tenure::record_parts {

inline constexpr std::size_t kIdBytes = 64;  // boot id, machine id, claim id
inline constexpr std::size_t kDirectoryBytes = 1024;
inline constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int64_t kMaxPid = std::numeric_limits<std::int32_t>::max();

// Its text made valid UTF-8 and cut, as it will stand on disk.
ProcessIdentity bounded(ProcessIdentity process);

void write_process(JsonWriter& out, std::string_view key, const ProcessIdentity& process);
// Members "process" and "owner_process"; the latter is null where there is none.
void write_processes(JsonWriter& out, const ProcessIdentity& process, const std::optional<ProcessIdentity>& owner);
ProcessIdentity read_process(JsonReader& parent, std::string_view name);
// Null and absence are nullopt.
std::optional<ProcessIdentity> read_owner_process(JsonReader& parent);

// Member "life": which file's lock proves the holder's life.
void write_life(JsonWriter& out, const FileIdentity& life);
FileIdentity read_life(JsonReader& parent);

std::string_view word_of(AtLoss at_loss);
AtLoss read_at_loss(JsonReader& reader);

}  // namespace tenure::record_parts
