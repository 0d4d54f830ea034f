// Whether a claim is still current, in every small world of record, counter and note.
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/ownership.h"
#include "rules/worlds.h"

namespace tenure::rules {
namespace {

using Answer = CurrentVerdict::Answer;
using Kind = Occupant::Kind;
using worlds::at;
using namespace std::chrono_literals;

constexpr Epoch kMine{5};
constexpr Duration kHard = 10s;

const ClaimId kClaim = worlds::claim_id(1);
const ClaimId kOther = worlds::claim_id(2);

template <class Check>
std::uint64_t for_each_world(const Check& check) {
  std::uint64_t count = 0;
  const std::vector<EpochSource> sources{worlds::missing(), worlds::unreadable(), at(0), at(4), at(5), at(6),
                                         at(Epoch::kLimit)};
  for (Kind kind : {Kind::nobody, Kind::damaged, Kind::holder}) {
    for (const auto& claim : {std::optional<ClaimId>{}, std::optional{kClaim}, std::optional{kOther}}) {
      for (std::uint64_t record : {0U, 4U, 5U, 6U}) {
        for (const EpochSource& counter : sources) {
          for (const EpochSource& note : sources) {
            for (bool held : worlds::kBooleans) {
              for (const auto& ttl : {std::optional<Duration>{}, std::optional{kHard}}) {
                for (Duration since : {Duration{0}, kHard - 1ns, kHard, kHard + 1ns, 2 * kHard}) {
                  ++count;
                  if (::testing::Test::HasFatalFailure()) continue;  // one world that fails is enough
                  check(CurrentFacts{kind, claim, Epoch{record}, counter, note, held, ttl, since});
                }
              }
            }
          }
        }
      }
    }
  }
  return count;
}

CurrentVerdict decide(const CurrentFacts& facts) {
  return decide_current(facts, kClaim, kMine);
}

bool mine(const CurrentFacts& facts) {
  return facts.kind == Kind::holder && facts.claim == kClaim && facts.record_epoch == kMine;
}
bool newer(const CurrentFacts& facts) {
  return facts.counter == at(6) || facts.note == at(6);
}

TEST(DecideCurrent, is_current_or_late_only_by_its_own_claim_id_and_epoch) {
  const std::uint64_t count = for_each_world([](const CurrentFacts& facts) {
    const CurrentVerdict verdict = decide(facts);
    ASSERT_FALSE(verdict.why.empty());
    const bool ours = verdict.answer == Answer::current || verdict.answer == Answer::late;
    ASSERT_EQ(ours, mine(facts));
  });
  EXPECT_EQ(count, 3U * 3 * 4 * 7 * 7 * 2 * 2 * 5);
  worlds::report_worlds(count);
}

TEST(DecideCurrent, is_late_exactly_past_its_own_ttl_and_says_by_how_much) {
  for_each_world([](const CurrentFacts& facts) {
    const CurrentVerdict verdict = decide(facts);
    const bool late = mine(facts) && facts.hard_ttl && facts.since_extension > kHard;
    ASSERT_EQ(verdict.answer == Answer::late, late);
    ASSERT_EQ(verdict.late_by, late ? facts.since_extension - kHard : Duration{0});
  });
}

TEST(DecideCurrent, restores_only_when_both_counters_prove_that_nobody_was_there) {
  for_each_world([](const CurrentFacts& facts) {
    const bool proven = facts.counter == at(5) && facts.note == at(5) && facts.note_says_held;
    ASSERT_EQ(decide(facts).answer == Answer::restore, proven && facts.kind != Kind::holder);
  });
}

TEST(DecideCurrent, another_claim_is_a_loss_that_names_the_new_epoch) {
  for_each_world([](const CurrentFacts& facts) {
    if (facts.kind != Kind::holder || mine(facts)) return;
    const CurrentVerdict verdict = decide(facts);
    ASSERT_EQ(verdict.answer, Answer::lost);
    const bool unfenced = facts.record_epoch.none() && facts.claim != kClaim;
    const std::string named = unfenced ? "no epoch" : "epoch " + facts.record_epoch.text();
    ASSERT_NE(verdict.why.find(named), std::string::npos) << verdict.why;
  });
}

TEST(DecideCurrent, a_higher_counter_without_a_record_is_a_loss_that_names_it) {
  for_each_world([](const CurrentFacts& facts) {
    if (facts.kind == Kind::holder || !newer(facts)) return;
    const CurrentVerdict verdict = decide(facts);
    ASSERT_EQ(verdict.answer, Answer::lost);
    ASSERT_NE(verdict.why.find("epoch 6"), std::string::npos) << verdict.why;
  });
}

TEST(DecideCurrent, is_gone_only_where_nothing_lies_and_nothing_is_newer) {
  for_each_world([](const CurrentFacts& facts) {
    const CurrentVerdict verdict = decide(facts);
    const bool restorable = facts.counter == at(5) && facts.note == at(5) && facts.note_says_held;
    ASSERT_EQ(verdict.answer == Answer::gone, facts.kind == Kind::nobody && !newer(facts) && !restorable);
    if (verdict.answer == Answer::gone && facts.note == at(5) && !facts.note_says_held) {
      ASSERT_NE(verdict.why.find("given back"), std::string::npos);
    }
  });
}

TEST(DecideCurrent, damage_is_never_taken_for_giving_back) {
  for_each_world([](const CurrentFacts& facts) {
    if (facts.kind != Kind::damaged) return;
    const Answer answer = decide(facts).answer;
    ASSERT_TRUE(answer == Answer::restore || answer == Answer::lost);
  });
}

TEST(DecideCurrent, a_claim_without_an_id_or_an_epoch_is_never_current_nor_restored) {
  for_each_world([](const CurrentFacts& facts) {
    CurrentFacts blank = facts;
    blank.claim = ClaimId{};
    ASSERT_TRUE(facts.kind != Kind::holder || decide_current(blank, ClaimId{}, kMine).answer == Answer::lost);
    blank.counter = blank.note = at(0);
    ASSERT_NE(decide_current(blank, kClaim, Epoch{}).answer, Answer::restore);
  });
}

}  // namespace
}  // namespace tenure::rules
