// Every small world of a claim, against what must hold whatever the code does.
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/ownership.h"
#include "rules/worlds.h"

namespace tenure::rules {
namespace {

using Answer = ClaimVerdict::Answer;
using Kind = Occupant::Kind;
using Basis = Age::Basis;
using namespace std::chrono_literals;

constexpr Duration kBound = 15s;
constexpr Duration kHard = 20s;
constexpr std::array kBases{Basis::unknown, Basis::monotonic, Basis::observed, Basis::wall};

// Just below, at, just above, and at both ends.
std::array<Duration, 5> around(Duration bound) {
  return {Duration{0}, bound - 1ns, bound, bound + 1ns, 100 * bound};
}

struct World {
  Expiry policy;
  Occupant occupant;
  Claimant claimant;
  bool same_process;
};

Occupant holder(Liveness liveness) {
  Occupant occupant;
  occupant.kind = Kind::holder;
  occupant.owner = "owner";
  occupant.part = "part";
  occupant.process = worlds::process(7);
  occupant.verdict = {liveness, "evidence"};
  occupant.silence_bound = kBound;
  return occupant;
}

template <class Check>
void with_ages(World world, const Check& check) {
  for (Basis basis : kBases) {
    for (Duration silence : around(kBound)) {
      world.occupant.silence = {basis, silence};
      world.occupant.hard_ttl.reset();
      check(world);
      for (Basis extension_basis : kBases) {
        for (Duration extension : around(kHard)) {
          world.occupant.hard_ttl = kHard;
          world.occupant.since_extension = {extension_basis, extension};
          check(world);
        }
      }
    }
  }
}

enum class Who : std::uint8_t { same, another_pid, another_start, nameless };
constexpr std::array kWho{Who::same, Who::another_pid, Who::another_start, Who::nameless};

ProcessIdentity recorded_as(Who who) {
  switch (who) {
    case Who::same:
      return worlds::process(7);
    case Who::another_pid:
      return worlds::process(8);
    case Who::another_start:
      return worlds::process(7, 101);
    case Who::nameless:
      break;
  }
  return {};
}

template <class Check>
std::uint64_t for_each_world(const Check& check) {
  std::uint64_t count = 0;
  const auto counted = [&](const World& world) {
    ++count;
    if (!::testing::Test::HasFatalFailure()) check(world);  // one world that fails is enough
  };
  for (Expiry policy : worlds::kPolicies) {
    for (Kind kind : {Kind::nobody, Kind::damaged, Kind::holder}) {
      for (Liveness liveness : worlds::kLivenesses) {
        for (const char* owner : {"owner", "another", ""}) {
          for (const char* part : {"part", "another", ""}) {
            for (Who who : kWho) {
              World world{policy, holder(liveness), {"owner", "part", worlds::process(7)}, who == Who::same};
              world.occupant.kind = kind;
              world.occupant.owner = owner;
              world.occupant.part = part;
              world.occupant.process = recorded_as(who);
              with_ages(world, counted);
            }
          }
        }
      }
    }
  }
  return count;
}

ClaimVerdict decide(const World& world) {
  return decide_claim(world.policy, world.occupant, world.claimant);
}

bool own(const World& world) {
  return world.same_process && world.occupant.owner == world.claimant.owner;
}

// What may count as an age: wall time only by AgentMux's rule, no basis never.
bool over(const World& world, const Age& age, Duration bound) {
  if (age.basis == Basis::unknown) return false;
  if (age.basis == Basis::wall && world.policy != Expiry::age) return false;
  return age.value > bound;
}
bool silent(const World& world) {
  return over(world, world.occupant.silence, kBound);
}
bool hard_over(const World& world) {
  return world.occupant.hard_ttl.has_value() && over(world, world.occupant.since_extension, kHard);
}

TEST(DecideClaim, tries_every_small_world) {
  const std::uint64_t count = for_each_world([](const World& world) {
    const ClaimVerdict verdict = decide(world);
    ASSERT_FALSE(verdict.why.empty());
    ASSERT_TRUE(!verdict.granted() || !verdict.frees_in);
  });
  EXPECT_EQ(count, 2U * 3 * 3 * 3 * 3 * 4 * 20 * 21);
  worlds::report_worlds(count);
}

TEST(DecideClaim, only_what_nobody_holds_is_free) {
  for_each_world(
      [](const World& world) { ASSERT_EQ(decide(world).answer == Answer::free, world.occupant.kind == Kind::nobody); });
}

TEST(DecideClaim, a_takeover_implies_a_dead_or_expired_holder) {
  for_each_world([](const World& world) {
    if (world.occupant.kind != Kind::holder) return;
    const ClaimVerdict verdict = decide(world);
    if (!verdict.granted() || verdict.answer == Answer::reclaim) return;
    const Liveness liveness = world.occupant.verdict.liveness;
    const bool by_silence = silent(world) && (world.policy == Expiry::age || liveness == Liveness::unknown);
    ASSERT_TRUE(liveness == Liveness::dead || hard_over(world) || by_silence) << verdict.why;
    ASSERT_EQ(verdict.answer == Answer::over_dead || verdict.answer == Answer::over_expired, true);
    if (verdict.answer == Answer::over_dead) {
      ASSERT_EQ(liveness, Liveness::dead);
    }
  });
}

TEST(DecideClaim, by_proof_a_living_holder_is_displaced_only_past_a_limit_that_it_asked_for) {
  for_each_world([](const World& world) {
    if (world.policy != Expiry::proof || world.occupant.kind != Kind::holder) return;
    if (world.occupant.verdict.liveness != Liveness::live) return;
    const ClaimVerdict verdict = decide(world);
    if (verdict.answer == Answer::reclaim) return;
    ASSERT_EQ(verdict.granted(), hard_over(world));
  });
}

TEST(DecideClaim, by_proof_neither_wall_time_nor_none_ever_expires_anything) {
  for_each_world([](const World& world) {
    if (world.policy != Expiry::proof) return;
    World young = world;
    const auto shorten = [](Age& age) {
      if (age.basis == Basis::wall || age.basis == Basis::unknown) age.value = Duration{0};
    };
    shorten(young.occupant.silence);
    shorten(young.occupant.since_extension);
    ASSERT_EQ(decide(world).answer, decide(young).answer);
  });
}

TEST(DecideClaim, a_reclaim_is_of_the_same_process_owner_and_part) {
  for_each_world([](const World& world) {
    const bool part = world.occupant.part == world.claimant.part;
    const bool nameless_block = world.policy == Expiry::age && world.occupant.part.empty();
    const bool expected = world.occupant.kind == Kind::holder && own(world) && (part || nameless_block);
    ASSERT_EQ(decide(world).answer == Answer::reclaim, expected);
  });
}

TEST(DecideClaim, a_dead_holder_is_displaced_at_once) {
  for_each_world([](const World& world) {
    if (world.occupant.kind != Kind::holder || world.occupant.verdict.liveness != Liveness::dead) return;
    if (own(world)) return;
    ASSERT_EQ(decide(world).answer, Answer::over_dead);
  });
}

TEST(DecideClaim, another_part_of_the_same_process_is_told_so_and_gets_no_more_than_a_stranger) {
  for_each_world([](const World& world) {
    const ClaimVerdict verdict = decide(world);
    if (verdict.answer == Answer::held_by_part) {
      ASSERT_TRUE(own(world) && world.occupant.part != world.claimant.part);
    }
    if (verdict.answer == Answer::held) {
      ASSERT_TRUE(world.occupant.kind == Kind::damaged || !own(world));
    }
    if (own(world) && verdict.answer != Answer::reclaim && verdict.granted()) {
      ASSERT_TRUE(decide_for_stranger(world.policy, world.occupant).granted());
    }
  });
}

TEST(DecideClaim, damage_is_held_while_anything_lives_and_goes_only_by_its_own_rule) {
  for_each_world([](const World& world) {
    if (world.occupant.kind != Kind::damaged) return;
    const bool alive = world.occupant.verdict.liveness == Liveness::live;
    ASSERT_EQ(decide(world).answer, !alive && silent(world) ? Answer::over_damaged : Answer::held);
  });
}

TEST(DecideClaim, answers_are_monotone_in_age) {
  for_each_world([](const World& world) {
    if (!decide(world).granted()) return;
    World older = world;
    for (Duration more : {Duration{1}, Duration{1s}, Duration{100h}}) {
      older.occupant.silence.value = world.occupant.silence.value + more;
      older.occupant.since_extension.value = world.occupant.since_extension.value + more;
      ASSERT_TRUE(decide(older).granted());
    }
  });
}

TEST(DecideClaim, frees_in_says_when_waiting_alone_is_enough) {
  std::uint64_t told = 0;
  for_each_world([&](const World& world) {
    const ClaimVerdict verdict = decide(world);
    if (verdict.granted()) return;
    World later = world;
    const auto wait = [&](Duration span) {
      later.occupant.silence.value = world.occupant.silence.value + span;
      later.occupant.since_extension.value = world.occupant.since_extension.value + span;
      return decide(later).granted();
    };
    ASSERT_EQ(wait(1000h), verdict.frees_in.has_value()) << verdict.why;
    if (!verdict.frees_in) return;
    ++told;
    ASSERT_GT(*verdict.frees_in, Duration{0});
    ASSERT_TRUE(wait(*verdict.frees_in));
    ASSERT_FALSE(wait(*verdict.frees_in - 1ms));
  });
  EXPECT_GT(told, 0U);
}

TEST(DecideClaim, a_stranger_is_answered_as_a_fresh_claimant_would_be) {
  for_each_world([](const World& world) {
    const Claimant fresh{"stranger", "1", worlds::process(12345, 67890)};
    const ClaimVerdict claim = decide_claim(world.policy, world.occupant, fresh);
    const ClaimVerdict shown = decide_for_stranger(world.policy, world.occupant);
    ASSERT_EQ(claim.answer, shown.answer);
    ASSERT_EQ(claim.why, shown.why);
    ASSERT_EQ(claim.frees_in, shown.frees_in);
  });
}

// AgentMux's table of claim, line by line, for records as AgentMux writes them (no TTL of their own). Its "same boot"
// is "same owner and same process" here.
Answer agentmux_table(const World& world) {
  const bool expired = world.occupant.silence.basis != Basis::unknown && world.occupant.silence.value > kBound;
  if (world.occupant.kind == Kind::nobody) return Answer::free;
  if (world.occupant.kind == Kind::damaged) return expired ? Answer::over_damaged : Answer::held;
  const bool same_block = world.occupant.part.empty() || world.occupant.part == "part";
  if (own(world)) return same_block ? Answer::reclaim : expired ? Answer::over_expired : Answer::held_by_part;
  if (world.occupant.verdict.liveness == Liveness::dead) return Answer::over_dead;
  return expired ? Answer::over_expired : Answer::held;
}

TEST(DecideClaim, by_age_it_is_agentmuxs_table) {
  std::uint64_t count = 0;
  for_each_world([&](const World& world) {
    if (world.policy != Expiry::age || world.occupant.hard_ttl) return;
    // AgentMux knows no life lock, so it never finds life behind damage.
    if (world.occupant.kind == Kind::damaged && world.occupant.verdict.liveness == Liveness::live) return;
    ++count;
    ASSERT_EQ(decide(world).answer, agentmux_table(world)) << decide(world).why;
  });
  worlds::report_worlds(count);
}

TEST(DecideClaim, says_on_what_evidence) {
  const Claimant other{"other", "1", worlds::process(9)};
  EXPECT_EQ(decide_claim(Expiry::proof, holder(Liveness::live), other).why, "its holder is alive: evidence");
  EXPECT_EQ(decide_claim(Expiry::proof, holder(Liveness::dead), other).why, "its holder is dead: evidence");
  EXPECT_NE(decide_claim(Expiry::proof, holder(Liveness::unknown), other).why.find("evidence"), std::string::npos);
}

// ---- revocation -----------------------------------------------------------------------------------------------------

TEST(DecideRevoke, tries_every_small_world) {
  std::uint64_t count = 0;
  for_each_world([&](const World& world) {
    if (world.same_process) return;  // the claimant plays no part
    for (bool force : worlds::kBooleans) {
      for (const char* reason : {"", " \t", "hung since noon"}) {
        for (std::optional<Epoch> only : {std::optional<Epoch>{}, std::optional{Epoch{5}}, std::optional{Epoch{6}}}) {
          ++count;
          const auto verdict = decide_revoke(world.occupant, world.policy, Epoch{5}, force, reason, only);
          ASSERT_FALSE(verdict.why.empty());
          if (world.occupant.kind == Kind::nobody) {
            ASSERT_TRUE(!verdict.allowed && verdict.code == Code::not_held);
            continue;
          }
          if (only == Epoch{6}) {
            ASSERT_TRUE(!verdict.allowed && verdict.code == Code::epoch_changed);
            continue;
          }
          const bool damaged = world.occupant.kind == Kind::damaged;
          const bool gone = !damaged && decide_for_stranger(world.policy, world.occupant).granted();
          const bool forced = force && std::string(reason) == "hung since noon";
          ASSERT_EQ(verdict.allowed, gone || forced);
          if (!verdict.allowed) {
            ASSERT_EQ(verdict.code, damaged ? Code::damaged : Code::holder_live);
            ASSERT_NE(verdict.why.find("reason"), std::string::npos);
          }
        }
      }
    }
  });
  worlds::report_worlds(count);
}

TEST(DecideRevoke, a_living_holder_without_force_stays_by_every_policy_while_it_renews) {
  for (Expiry policy : worlds::kPolicies) {
    for (Liveness liveness : {Liveness::live, Liveness::unknown}) {
      Occupant occupant = holder(liveness);
      occupant.silence = {Basis::monotonic, 1s};
      EXPECT_FALSE(decide_revoke(occupant, policy, Epoch{5}, false, "a reason", {}).allowed);
      EXPECT_FALSE(decide_revoke(occupant, policy, Epoch{5}, true, "", {}).allowed);
      EXPECT_TRUE(decide_revoke(occupant, policy, Epoch{5}, true, "a reason", Epoch{5}).allowed);
    }
  }
}

}  // namespace
}  // namespace tenure::rules
