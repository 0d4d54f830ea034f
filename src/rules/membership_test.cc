// Every small world of evidence about a member of a local space.
#include "rules/membership.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenure::rules {
namespace {

constexpr std::uint64_t kTicks = 500;

struct MemberSight {
  const char* name;
  ProcessSight sight;
  bool over;  // of our own namespace, it proves the process dead
};

std::vector<MemberSight> sights_of_members() {
  using There = ProcessSight::Existence;
  using Line = ProcessSight::Stat;
  return {
      {"runs", {.existence = There::exists, .stat = Line::read, .start_ticks = kTicks, .state = 'R'}, false},
      {"is stopped", {.existence = There::exists, .stat = Line::read, .start_ticks = kTicks, .state = 'T'}, false},
      {"is gone", {.existence = There::absent, .stat = Line::absent}, true},
      {"is another", {.existence = There::exists, .stat = Line::read, .start_ticks = kTicks + 1, .state = 'R'}, true},
      {"a zombie",
       {.existence = There::exists, .stat = Line::read, .start_ticks = kTicks, .state = 'Z', .threads_counted = true},
       true},
      {"a zombie whose threads run",
       {.existence = There::exists,
        .stat = Line::read,
        .start_ticks = kTicks,
        .state = 'Z',
        .threads_counted = true,
        .other_threads = 1},
       false},
      {"is hidden", {.existence = There::exists, .stat = Line::denied}, false},
      {"cannot be told of", {}, false},
  };
}

ProcessIdentity member(std::uint64_t pid_namespace) {
  return {.pid = 42,
          .start_ticks = kTicks,
          .boot_id = "boot",
          .machine_id = {},
          .pid_namespace = pid_namespace,
          .time_namespace = 1,
          .user = 0};
}

Standpoint we(bool proc_usable) {
  Standpoint self;
  self.identity = member(1);
  self.identity.pid = 7;
  self.proc_usable = proc_usable;
  return self;
}

// In the words of the design: the lock's freedom is proof by itself; without a flag nothing else is; with it the
// system's word is, where it speaks of the same process.
Liveness expected(const MemberEvidence& evidence, const MemberSight& sight, bool same_namespace, bool proc_usable) {
  if (evidence.byte == ByteSight::free) return Liveness::dead;
  if (!evidence.flagged) return Liveness::live;
  if (!same_namespace) return Liveness::unknown;
  const bool gone_without_proc = sight.sight.existence == ProcessSight::Existence::absent;
  const bool by_proc = proc_usable && (evidence.ending || sight.over);
  return by_proc || gone_without_proc ? Liveness::dead : Liveness::unknown;
}

TEST(Membership, EverySmallWorld) {
  for (const MemberSight& sight : sights_of_members()) {
    for (const bool flagged : {false, true}) {
      for (const bool ending : {false, true}) {
        for (const ByteSight byte : {ByteSight::not_asked, ByteSight::held, ByteSight::free, ByteSight::unreadable}) {
          for (const bool same_namespace : {false, true}) {
            for (const bool proc_usable : {false, true}) {
              const MemberEvidence evidence{flagged, sight.sight, ending, byte};
              SCOPED_TRACE(std::string(sight.name) + (flagged ? ", flagged" : "") + (ending ? ", ending" : "") +
                           ", byte " + std::to_string(static_cast<int>(byte)) +
                           (same_namespace ? "" : ", another namespace") + (proc_usable ? "" : ", no /proc"));
              const Verdict verdict = judge_member(member(same_namespace ? 1 : 2), evidence, we(proc_usable));
              EXPECT_EQ(verdict.liveness, expected(evidence, sight, same_namespace, proc_usable)) << verdict.evidence;
              EXPECT_FALSE(verdict.evidence.empty());
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenure::rules
