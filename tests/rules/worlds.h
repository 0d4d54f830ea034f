// Small worlds for the tests of the rules: every combination of a few values a field.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "rules/liveness.h"
#include "rules/ownership.h"

namespace tenure::rules::worlds {

// How a recorded field stands to our own: the five cases that a comparison can meet.
enum class Relation : std::uint8_t { same, differs, recorded_unknown, own_unknown, both_unknown };
inline constexpr std::array kRelations{Relation::same, Relation::differs, Relation::recorded_unknown,
                                       Relation::own_unknown, Relation::both_unknown};

inline bool recorded_known(Relation relation) {
  return relation != Relation::recorded_unknown && relation != Relation::both_unknown;
}
inline bool own_known(Relation relation) {
  return relation != Relation::own_unknown && relation != Relation::both_unknown;
}

inline void relate(Relation relation, std::string& recorded, std::string& own) {
  recorded = !recorded_known(relation) ? "" : relation == Relation::differs ? "theirs" : "ours";
  own = own_known(relation) ? "ours" : "";
}
inline void relate(Relation relation, std::uint64_t& recorded, std::uint64_t& own) {
  recorded = !recorded_known(relation) ? 0 : relation == Relation::differs ? 4002 : 4001;
  own = own_known(relation) ? 4001 : 0;
}

inline constexpr std::array kExistences{ProcessSight::Existence::exists, ProcessSight::Existence::absent,
                                        ProcessSight::Existence::cannot_tell};
inline constexpr std::array kStats{ProcessSight::Stat::read, ProcessSight::Stat::absent, ProcessSight::Stat::denied,
                                   ProcessSight::Stat::unusable};
inline constexpr std::array kLivenesses{Liveness::live, Liveness::dead, Liveness::unknown};
inline constexpr std::array kPolicies{Expiry::proof, Expiry::age};
inline constexpr std::array kBooleans{false, true};

inline ProcessIdentity process(std::int32_t pid, std::uint64_t ticks = 100) {
  return {.pid = pid,
          .start_ticks = ticks,
          .boot_id = "ours",
          .machine_id = "ours",
          .pid_namespace = 4001,
          .time_namespace = 4001,
          .user = 1000};
}

inline Standpoint standpoint(std::int32_t pid = 99) {
  Standpoint self;
  self.identity = process(pid, 999);
  self.host = "host-a";
  self.proc_usable = true;
  return self;
}

inline ProcessSight running(std::uint64_t ticks = 100) {
  return {.existence = ProcessSight::Existence::exists,
          .stat = ProcessSight::Stat::read,
          .start_ticks = ticks,
          .state = 'S',
          .threads_counted = true,
          .other_threads = 0,
          .start_wall_seconds = 1'770'000'000};
}

inline ProcessSight gone() {
  return {.existence = ProcessSight::Existence::absent, .stat = ProcessSight::Stat::absent};
}

inline EpochSource at(std::uint64_t value) {
  return {EpochSource::Reading::value, Epoch{value}};
}
inline EpochSource missing() {
  return {};
}
inline EpochSource unreadable() {
  return {EpochSource::Reading::unreadable, Epoch{}};
}

inline ClaimId claim_id(std::uint8_t number) {
  std::array<std::uint8_t, 16> bytes{};
  bytes[15] = number;
  return ClaimId{bytes};
}

// Printed with the result, so that a shrunken enumeration is seen.
inline void report_worlds(std::uint64_t count) {
  ::testing::Test::RecordProperty("worlds", std::to_string(count));
  std::printf("[  worlds  ] %llu\n", static_cast<unsigned long long>(count));
}

}  // namespace tenure::rules::worlds
