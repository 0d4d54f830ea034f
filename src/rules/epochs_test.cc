// The next epoch in every small world of the three places where the highest may stand.
#include <gtest/gtest.h>

#include "rules/ownership.h"
#include "rules/worlds.h"

namespace tenure::rules {
namespace {

using Reading = EpochSource::Reading;
using worlds::at;
using worlds::missing;
using worlds::unreadable;

constexpr std::int64_t kBefore2020 = 1'577'836'799;
constexpr std::int64_t kNow = 1'770'000'000;

WallTime wall(std::int64_t seconds) {
  return WallTime{std::chrono::seconds(seconds)};
}

const std::vector<EpochSource>& source_values() {
  static const std::vector<EpochSource> values{missing(),
                                               unreadable(),
                                               at(0),
                                               at(1),
                                               at(5),
                                               at(6),
                                               at(Epoch::kLimit - kRepairJump - 1),
                                               at(Epoch::kLimit - kRepairJump),
                                               at(Epoch::kLimit - 2),
                                               at(Epoch::kLimit - 1),
                                               at(Epoch::kLimit),
                                               at(UINT64_MAX)};
  return values;
}

template <class Check>
std::uint64_t for_each_world(const Check& check) {
  std::uint64_t count = 0;
  for (const EpochSource& counter : source_values()) {
    for (const EpochSource& note : source_values()) {
      for (const EpochSource& record : source_values()) {
        for (bool first_use : worlds::kBooleans) {
          for (std::int64_t seconds :
               {std::int64_t{-5}, std::int64_t{0}, kBefore2020, kBefore2020 + 1, kNow, std::int64_t{9'200'000'000}}) {
            ++count;
            if (::testing::Test::HasFatalFailure()) continue;  // one world that fails is enough
            check(EpochSources{counter, note, record, first_use, wall(seconds)});
          }
        }
      }
    }
  }
  return count;
}

bool credible_value(const EpochSource& source) {
  return source.reading == Reading::value && source.epoch.value() > 0 && source.epoch.value() < Epoch::kLimit;
}
bool damage(const EpochSource& source) {
  return source.reading == Reading::unreadable ||
         (source.reading == Reading::value && source.epoch.value() >= Epoch::kLimit);
}
bool zero(const EpochSource& source) {
  return source.reading == Reading::value && source.epoch.value() == 0;
}

std::vector<EpochSource> all(const EpochSources& sources) {
  return {sources.counter, sources.note, sources.record};
}

bool any(const EpochSources& sources, bool (*holds)(const EpochSource&)) {
  for (const EpochSource& source : all(sources)) {
    if (holds(source)) return true;
  }
  return false;
}

// Whatever function gave it: above all that is credible, below the limit, or a refusal with a reason.
void check_bounds(const EpochSources& sources, const Result<NextEpoch>& next) {
  if (!next) {
    ASSERT_TRUE(next.error().code == Code::epoch_unreadable || next.error().code == Code::epoch_exhausted);
    ASSERT_FALSE(next.error().message.empty());
    return;
  }
  ASSERT_TRUE(next->epoch.credible());
  ASSERT_FALSE(next->epoch.none());
  for (const EpochSource& source : all(sources)) {
    if (credible_value(source)) {
      ASSERT_GT(next->epoch, source.epoch);
    }
  }
}

TEST(NextEpoch, is_strictly_above_every_credible_source) {
  const std::uint64_t count = for_each_world([](const EpochSources& s) { check_bounds(s, next_epoch(s)); });
  EXPECT_EQ(count, 12U * 12 * 12 * 2 * 6);
  worlds::report_worlds(count);
}

TEST(NextEpoch, never_starts_again_at_one_where_there_is_any_sign_of_use) {
  for_each_world([](const EpochSources& s) {
    const auto next = next_epoch(s);
    if (!next || next->epoch != Epoch{1}) return;
    ASSERT_TRUE(s.first_use);
    ASSERT_FALSE(any(s, credible_value) || any(s, damage));
  });
}

TEST(NextEpoch, refuses_when_something_is_damaged_and_nothing_can_be_read) {
  for_each_world([](const EpochSources& s) {
    if (any(s, credible_value)) return;
    const bool damaged = any(s, damage) || (zero(s.counter) && !s.first_use);
    if (!damaged) return;
    const auto next = next_epoch(s);
    ASSERT_FALSE(next);
    ASSERT_EQ(next.error().code, Code::epoch_unreadable);
  });
}

TEST(NextEpoch, goes_on_from_the_clock_when_all_is_gone_and_the_key_was_used) {
  for_each_world([](const EpochSources& s) {
    if (s.first_use || any(s, credible_value) || any(s, damage) || zero(s.counter)) return;
    const auto next = next_epoch(s);
    if (s.now < wall(kBefore2020 + 1)) {
      ASSERT_EQ(next.error().code, Code::epoch_unreadable);
    } else if (s.now > wall(kNow)) {
      ASSERT_EQ(next.error().code, Code::epoch_exhausted);
    } else {
      const auto seconds = static_cast<std::uint64_t>(s.now.milliseconds() / 1000);
      ASSERT_EQ(next->epoch, Epoch{seconds * 1'000'000});
      ASSERT_FALSE(next->note.empty());
    }
  });
}

TEST(NextEpoch, jumps_with_a_note_when_only_copies_stand_and_steps_by_one_when_the_counter_does) {
  for_each_world([](const EpochSources& s) {
    const auto next = next_epoch(s);
    if (!next || !any(s, credible_value)) return;
    Epoch highest;
    for (const EpochSource& source : all(s)) {
      if (credible_value(source)) highest = std::max(highest, source.epoch);
    }
    const bool counter = credible_value(s.counter);
    ASSERT_EQ(next->epoch.value() - highest.value(), counter ? 1U : kRepairJump);
    ASSERT_EQ(next->note.empty(), counter);
  });
}

TEST(NextEpoch, refuses_at_the_limit_and_only_there) {
  EXPECT_EQ(next_epoch({at(Epoch::kLimit - 2), {}, {}, false, wall(kNow)})->epoch, Epoch{Epoch::kLimit - 1});
  EXPECT_EQ(next_epoch({at(Epoch::kLimit - 1), {}, {}, false, wall(kNow)}).error().code, Code::epoch_exhausted);
  EXPECT_EQ(next_epoch({unreadable(), at(Epoch::kLimit - kRepairJump), {}, false, wall(kNow)}).error().code,
            Code::epoch_exhausted);
  EXPECT_EQ(next_epoch({unreadable(), at(Epoch::kLimit - kRepairJump - 1), {}, false, wall(kNow)})->epoch,
            Epoch{Epoch::kLimit - 1});
}

// Grant, then lose, damage or roll back any of the three places, then grant again: higher or refused, as long as one
// place tells the truth or none tells anything.
TEST(NextEpoch, rises_over_every_loss_that_leaves_no_lie_alone) {
  std::uint64_t count = 0;
  std::uint64_t granted = 0;
  for (std::uint64_t last : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{1'000'000}, Epoch::kLimit - 1}) {
    const std::vector<EpochSource> fates{at(last), missing(), unreadable(), at(last - 1)};
    for (const EpochSource& counter : fates) {
      for (const EpochSource& note : fates) {
        for (const EpochSource& record : fates) {
          const EpochSources after{counter, note, record, false, wall(kNow)};
          const bool truth = counter == at(last) || note == at(last) || record == at(last);
          const bool silence = !any(after, credible_value);
          // Nothing at all is left of an epoch that no clock of these centuries reaches: beyond any store.
          if (!truth && !(silence && last < 1'000'000'000'000)) continue;
          ++count;
          const auto next = next_epoch(after);
          ASSERT_TRUE(!next || next->epoch.value() > last);
          granted += next ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(granted, 0U);
  worlds::report_worlds(count);
}

TEST(RepairedEpoch, is_above_every_credible_source_and_above_the_clock) {
  const std::uint64_t count = for_each_world([](const EpochSources& s) {
    const auto next = repaired_epoch(s);
    check_bounds(s, next);
    const std::int64_t seconds = s.now.milliseconds() / 1000;
    if (!next) {
      const bool no_clock = seconds <= kBefore2020 && !any(s, credible_value);
      ASSERT_EQ(next.error().code, no_clock ? Code::epoch_unreadable : Code::epoch_exhausted);
      return;
    }
    ASSERT_FALSE(next->note.empty());
    if (seconds > kBefore2020) {
      ASSERT_GT(next->epoch.value(), static_cast<std::uint64_t>(seconds) * 1'000'000);
    }
    if (!credible_value(s.counter)) {
      for (const EpochSource& source : {s.note, s.record}) {
        if (credible_value(source)) {
          ASSERT_GE(next->epoch.value(), source.epoch.value() + kRepairJump);
        }
      }
    }
  });
  worlds::report_worlds(count);
}

TEST(RepairedEpoch, works_where_a_claim_is_refused_for_damage) {
  const EpochSources damaged{unreadable(), unreadable(), unreadable(), false, wall(kNow)};
  EXPECT_EQ(next_epoch(damaged).error().code, Code::epoch_unreadable);
  ASSERT_TRUE(repaired_epoch(damaged));
  EXPECT_GT(repaired_epoch(damaged)->epoch.value(), static_cast<std::uint64_t>(kNow) * 1'000'000);
}

}  // namespace
}  // namespace tenure::rules
