// Every small world of a process, an AgentMux record and a lease, against proofs that are listed here once more.
#include "rules/liveness.h"

#include <gtest/gtest.h>

#include <set>

#include "rules/worlds.h"

namespace tenure::rules {
namespace {

using worlds::Relation;
using Existence = ProcessSight::Existence;
using Stat = ProcessSight::Stat;

// ---- a process with its full identity -------------------------------------------------------------------------------

struct Ground {
  Relation boot, machine, pid_namespace, time_namespace;
  bool named;  // the record names a pid

  bool same() const {
    return named && boot == Relation::same && pid_namespace == Relation::same && time_namespace == Relation::same;
  }
  bool rebooted() const { return named && boot == Relation::differs && machine == Relation::same; }
};

struct ProcessWorld {
  Ground ground;
  ProcessIdentity recorded;
  Standpoint self;
};

std::vector<ProcessWorld> grounds() {
  std::vector<ProcessWorld> all;
  for (Relation boot : worlds::kRelations) {
    for (Relation machine : worlds::kRelations) {
      for (Relation pid_namespace : worlds::kRelations) {
        for (Relation time_namespace : worlds::kRelations) {
          for (bool named : worlds::kBooleans) {
            ProcessWorld world{{boot, machine, pid_namespace, time_namespace, named}, {}, {}};
            ProcessIdentity& own = world.self.identity;
            world.recorded.pid = named ? 7 : 0;
            own.pid = 99;
            worlds::relate(boot, world.recorded.boot_id, own.boot_id);
            worlds::relate(machine, world.recorded.machine_id, own.machine_id);
            worlds::relate(pid_namespace, world.recorded.pid_namespace, own.pid_namespace);
            worlds::relate(time_namespace, world.recorded.time_namespace, own.time_namespace);
            all.push_back(world);
          }
        }
      }
    }
  }
  return all;
}

std::vector<ProcessSight> sights() {
  std::vector<ProcessSight> all;
  for (Existence existence : worlds::kExistences) {
    for (Stat stat : worlds::kStats) {
      for (std::uint64_t ticks : {0U, 100U, 101U}) {
        for (char state : {'R', 'T', 'Z', 'X'}) {
          for (bool counted : worlds::kBooleans) {
            for (std::uint32_t others : {0U, 3U}) {
              all.push_back({.existence = existence,
                             .stat = stat,
                             .start_ticks = ticks,
                             .state = state,
                             .threads_counted = counted,
                             .other_threads = others});
            }
          }
        }
      }
    }
  }
  return all;
}

bool leader_over(const ProcessSight& sight) {
  return sight.state == 'Z' || sight.state == 'X';
}

bool starts_known(const ProcessWorld& world, const ProcessSight& sight) {
  return world.self.proc_usable && sight.stat == Stat::read && world.recorded.start_ticks != 0 &&
         sight.start_ticks != 0;
}

// The proofs of death, all of them.
bool proven_dead(const ProcessWorld& world, const ProcessSight& sight) {
  if (world.ground.rebooted()) return true;
  if (!world.ground.same()) return false;
  const bool gone = sight.existence == Existence::absent;
  const bool known = starts_known(world, sight);
  const bool another = known && sight.start_ticks != world.recorded.start_ticks;
  const bool remains = known && leader_over(sight) && sight.threads_counted && sight.other_threads == 0;
  return gone || another || remains;
}

bool proven_live(const ProcessWorld& world, const ProcessSight& sight) {
  if (!world.ground.same() || sight.existence == Existence::absent) return false;
  if (!starts_known(world, sight) || sight.start_ticks != world.recorded.start_ticks) return false;
  return !leader_over(sight) || (sight.threads_counted && sight.other_threads > 0);
}

TEST(JudgeProcess, answers_by_proof_in_every_small_world) {
  std::uint64_t count = 0;
  std::uint64_t wrong = 0;
  const auto all_sights = sights();
  auto all_grounds = grounds();
  for (ProcessWorld& world : all_grounds) {
    for (bool proc_usable : worlds::kBooleans) {
      for (std::uint64_t ticks : {0U, 100U}) {
        world.self.proc_usable = proc_usable;
        world.recorded.start_ticks = ticks;
        for (const ProcessSight& sight : all_sights) {
          ++count;
          const Verdict verdict = judge_process(world.recorded, sight, world.self);
          const bool as_expected = (verdict.liveness == Liveness::dead) == proven_dead(world, sight) &&
                                   (verdict.liveness == Liveness::live) == proven_live(world, sight) &&
                                   !verdict.evidence.empty();
          if (!as_expected && ++wrong == 1) {
            ADD_FAILURE() << "world " << count << ": " << static_cast<int>(verdict.liveness) << " " << verdict.evidence;
          }
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(count, 625U * 2 * 2 * 2 * 576);
  worlds::report_worlds(count);
}

TEST(JudgeProcess, says_what_it_saw) {
  const Standpoint self = worlds::standpoint();
  const ProcessIdentity recorded = worlds::process(4711);
  EXPECT_EQ(judge_process(recorded, worlds::running(), self).evidence, "pid 4711 runs");
  EXPECT_EQ(judge_process(recorded, worlds::gone(), self).evidence, "pid 4711 is gone");
  ProcessSight stopped = worlds::running();
  stopped.state = 'T';
  EXPECT_EQ(judge_process(recorded, stopped, self).liveness, Liveness::live);
  EXPECT_NE(judge_process(recorded, stopped, self).evidence.find("stopped"), std::string::npos);
  EXPECT_NE(judge_process(recorded, worlds::running(101), self).evidence.find("another process has its number"),
            std::string::npos);
  ProcessIdentity before = recorded;
  before.boot_id = "former";
  EXPECT_NE(judge_process(before, worlds::running(), self).evidence.find("rebooted"), std::string::npos);
}

// ---- the same process -----------------------------------------------------------------------------------------------

TEST(SameProcess, needs_every_field_known_and_equal) {
  std::uint64_t count = 0;
  for (const ProcessWorld& ground : grounds()) {
    for (std::int32_t pid : {0, 7, 8}) {
      for (std::uint64_t ticks : {0U, 100U, 101U}) {
        for (std::uint64_t own_ticks : {0U, 100U}) {
          ++count;
          ProcessIdentity recorded = ground.recorded;
          ProcessIdentity self = ground.self.identity;
          recorded.start_ticks = ticks;
          self.start_ticks = own_ticks;
          self.pid = pid;
          const Ground& relation = ground.ground;
          const bool expected =
              relation.named && pid == 7 && ticks == 100 && own_ticks == 100 && relation.boot == Relation::same &&
              relation.pid_namespace == Relation::same &&
              (relation.time_namespace == Relation::same || relation.time_namespace == Relation::both_unknown);
          ASSERT_EQ(same_process(recorded, self), expected) << "world " << count;
        }
      }
    }
  }
  worlds::report_worlds(count);
}

// ---- a record of AgentMux -------------------------------------------------------------------------------------------

struct ForeignWorld {
  std::int64_t pid;
  Relation host;
  std::string recorded_host;
  std::uint64_t start;
  ProcessSight sight;
  Standpoint self;

  bool same_host() const { return host == Relation::same; }
  bool possible_pid() const { return pid >= 1 && pid <= 2'147'483'647; }
  bool start_seen() const { return self.proc_usable && sight.stat == Stat::read && sight.start_wall_seconds != 0; }
};

template <class Check>
std::uint64_t for_each_foreign(const Check& check) {
  std::uint64_t count = 0;
  for (std::int64_t pid : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, std::int64_t{4'294'967'295}}) {
    for (Relation host : worlds::kRelations) {
      for (std::uint64_t start : {0U, 1000U}) {
        for (std::uint64_t seen : {0U, 997U, 998U, 999U, 1000U, 1002U, 1003U}) {
          for (bool proc_usable : worlds::kBooleans) {
            for (const ProcessSight& base : sights()) {
              if (base.start_ticks != 0) continue;  // never asked here
              ForeignWorld world{pid, host, {}, start, base, {}};
              worlds::relate(host, world.recorded_host, world.self.host);
              world.sight.start_wall_seconds = seen;
              world.self.proc_usable = proc_usable;
              ++count;
              if (!::testing::Test::HasFatalFailure()) check(world);  // one world that fails is enough
            }
          }
        }
      }
    }
  }
  return count;
}

TEST(JudgeForeign, never_says_dead_and_live_only_of_the_recorded_second) {
  std::set<Liveness> seen;
  const std::uint64_t count = for_each_foreign([&](const ForeignWorld& world) {
    const Verdict verdict = judge_foreign(world.pid, world.recorded_host, world.start, world.sight, world.self);
    seen.insert(verdict.liveness);
    const std::uint64_t at = world.sight.start_wall_seconds;
    const bool lives = world.same_host() && world.possible_pid() && world.sight.existence != Existence::absent &&
                       world.start == 1000 && world.start_seen() && at >= 998 && at <= 1002 &&
                       (!leader_over(world.sight) || (world.sight.threads_counted && world.sight.other_threads > 0));
    ASSERT_EQ(verdict.liveness, lives ? Liveness::live : Liveness::unknown) << verdict.evidence;
    if (!lives) {
      ASSERT_NE(verdict.evidence.find("its TTL decides"), std::string::npos) << verdict.evidence;
    }
  });
  EXPECT_EQ(seen, (std::set<Liveness>{Liveness::live, Liveness::unknown}));
  worlds::report_worlds(count);
}

TEST(JudgeForeignAsAgentmux, says_dead_by_its_rule_alone) {
  const std::uint64_t count = for_each_foreign([&](const ForeignWorld& world) {
    const Verdict verdict =
        judge_foreign_as_agentmux(world.pid, world.recorded_host, world.start, world.sight, world.self);
    const bool impossible = world.pid != 0 && !world.possible_pid();
    const bool not_there = impossible || world.sight.existence == Existence::absent;
    const bool another = world.start != 0 && world.start_seen() && world.sight.start_wall_seconds != world.start;
    const bool dead = world.same_host() && world.pid != 0 && (not_there || another);
    ASSERT_EQ(verdict.liveness, dead ? Liveness::dead : Liveness::live) << verdict.evidence;
    ASSERT_FALSE(verdict.evidence.empty());
  });
  worlds::report_worlds(count);
}

// ---- a lease --------------------------------------------------------------------------------------------------------

std::vector<Testimony> testimonies() {
  std::vector<Testimony> all;
  const std::vector<std::optional<LifeSight>> lives{std::nullopt,          LifeSight::held,   LifeSight::free,
                                                    LifeSight::other_file, LifeSight::absent, LifeSight::unreadable};
  for (Liveness keeper : worlds::kLivenesses) {
    for (int owner = -1; owner < 3; ++owner) {
      for (const auto& life : lives) {
        for (bool same_boot : worlds::kBooleans) {
          Testimony testimony{{keeper, "keeper seen"}, std::nullopt, life, same_boot};
          if (owner >= 0) {
            testimony.owner = Verdict{worlds::kLivenesses[static_cast<std::size_t>(owner)], "owner seen"};
          }
          all.push_back(testimony);
        }
      }
    }
  }
  return all;
}

bool freed(const Testimony& testimony) {
  return testimony.life == LifeSight::free && testimony.same_boot;
}

TEST(JudgeLease, is_over_only_when_every_proof_is_over) {
  std::uint64_t dead = 0;
  for (const Testimony& testimony : testimonies()) {
    const Verdict verdict = judge_lease(testimony);
    ASSERT_FALSE(verdict.evidence.empty());
    if (testimony.life == LifeSight::held) {
      ASSERT_EQ(verdict.liveness, Liveness::live);
    }
    if (verdict.liveness != Liveness::dead) continue;
    ++dead;
    ASSERT_NE(testimony.life, LifeSight::held);
    ASSERT_TRUE(freed(testimony) || testimony.keeper.liveness == Liveness::dead);
    ASSERT_TRUE(!testimony.owner || testimony.owner->liveness == Liveness::dead);
    // Where a lock was named in this boot, only the lock speaks for the children that it may have been passed to.
    ASSERT_TRUE(!testimony.life || freed(testimony) || !testimony.same_boot);
  }
  EXPECT_GT(dead, 0U);
  worlds::report_worlds(testimonies().size());
}

TEST(JudgeLease, lives_only_by_something_that_lives) {
  for (const Testimony& testimony : testimonies()) {
    const bool keeper = testimony.keeper.liveness == Liveness::live && !freed(testimony);
    const bool owner = testimony.owner && testimony.owner->liveness == Liveness::live;
    const bool expected = testimony.life == LifeSight::held || keeper || owner;
    ASSERT_EQ(judge_lease(testimony).liveness == Liveness::live, expected);
  }
}

TEST(JudgeLease, a_free_life_lock_of_this_boot_proves_the_keeper_dead_whatever_else_is_seen) {
  for (Testimony testimony : testimonies()) {
    if (!freed(testimony)) continue;
    const Liveness expected = testimony.owner ? testimony.owner->liveness : Liveness::dead;
    ASSERT_EQ(judge_lease(testimony).liveness, expected);
  }
}

TEST(JudgeLease, knowing_less_never_makes_it_dead) {
  for (const Testimony& testimony : testimonies()) {
    if (judge_lease(testimony).liveness == Liveness::dead) continue;
    Testimony less = testimony;
    less.keeper.liveness = Liveness::unknown;
    ASSERT_NE(judge_lease(less).liveness, Liveness::dead);
    less = testimony;
    less.same_boot = false;
    ASSERT_TRUE(judge_lease(less).liveness != Liveness::dead || testimony.keeper.liveness == Liveness::dead);
    if (testimony.owner) {
      less = testimony;
      less.owner->liveness = Liveness::unknown;
      ASSERT_NE(judge_lease(less).liveness, Liveness::dead);
    }
  }
}

TEST(JudgeLease, names_what_decided) {
  const Verdict gone{Liveness::dead, "pid 1 is gone"};
  const Verdict runs{Liveness::live, "pid 2 runs"};
  EXPECT_EQ(judge_lease({gone, {}, LifeSight::held, true}).evidence, "its life lock is held");
  EXPECT_EQ(judge_lease({runs, {}, LifeSight::free, true}).evidence, "its life lock is free");
  EXPECT_EQ(judge_lease({gone, {}, {}, true}).evidence, "pid 1 is gone");
  EXPECT_EQ(judge_lease({gone, runs, {}, true}).evidence, "its owner lives: pid 2 runs");
}

}  // namespace
}  // namespace tenure::rules
