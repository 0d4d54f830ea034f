// Where epochs begin and how far they may go, in every small world of two copies, a clock and a folder.
#include "rules/ceiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace tenure::rules {
namespace {

using Reading = CeilingCopy::Reading;

constexpr std::uint64_t kNow = 1'770'000'000;
constexpr std::uint64_t kBefore2020 = 1'577'836'799;
constexpr std::uint64_t kTenYearsOn = kNow + kBelievedSeconds;
constexpr FolderMark kHere{.identity = {.device = 1, .inode = 2}, .born = 3};
constexpr FolderMark kElsewhere{.identity = {.device = 1, .inode = 9}, .born = 4};

WallTime wall(std::uint64_t seconds) {
  return WallTime{std::chrono::seconds(static_cast<std::int64_t>(seconds))};
}

CeilingCopy missing() {
  return {};
}
CeilingCopy unreadable() {
  return {.reading = Reading::unreadable, .record = {}};
}
CeilingCopy at(std::uint64_t bound, const FolderMark& folder = kHere, std::uint64_t written = kNow,
               std::uint8_t space = 7) {
  CeilingRecord record{.bound = Epoch(bound), .wall_seconds = written, .folder = folder};
  record.space.fill(space);
  return {.reading = Reading::value, .record = record};
}

CeilingSight sight(const CeilingCopy& first, const CeilingCopy& second, std::uint64_t now = kNow, bool used = true) {
  return {.first = first, .second = second, .used_before = used, .here = kHere, .now = wall(now)};
}

constexpr std::uint64_t kClock = kNow * kEpochsPerWallSecond;

bool noted(const std::vector<std::string>& notes, const std::string& words) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

std::optional<std::uint64_t> credible(const CeilingCopy& copy) {
  const std::uint64_t bound = copy.record.bound.value();
  if (copy.reading != Reading::value || bound == 0 || bound >= Epoch::kLimit) return std::nullopt;
  return bound;
}

template <class Check>
void for_each_world(const Check& check) {
  std::vector<CeilingCopy> copies{missing(),         unreadable(),    at(0),
                                  at(5, kElsewhere), at(5, kHere, 0), at(5, kHere, kNow, 8)};
  for (const std::uint64_t bound :
       {std::uint64_t{1}, kClock - 1, kClock + kCeilingBlock, Epoch::kLimit - kCeilingBlock - 1, Epoch::kLimit - 2,
        Epoch::kLimit - 1, Epoch::kLimit, UINT64_MAX}) {
    copies.push_back(at(bound));
  }
  for (const CeilingCopy& first : copies) {
    for (const CeilingCopy& second : copies) {
      for (const bool used : {false, true}) {
        for (const std::uint64_t now : {std::uint64_t{0}, kBefore2020, kBefore2020 + 1, kNow, kTenYearsOn,
                                        kTenYearsOn + 1, std::uint64_t{9'200'000'000}}) {
          check(sight(first, second, now, used));
        }
      }
    }
  }
}

TEST(CeilingStart, IsNeverBelowWhatMayHaveBeenGivenOut) {
  for_each_world([](const CeilingSight& world) {
    const auto first = credible(world.first);
    const auto second = credible(world.second);
    const bool first_use =
        world.first.reading == Reading::missing && world.second.reading == Reading::missing && !world.used_before;
    for (const bool repair : {false, true}) {
      const auto decided = repair ? repaired_start(world) : start_above(world);
      if (!decided) {
        EXPECT_TRUE(decided.error().code == Code::epoch_unreadable || decided.error().code == Code::epoch_exhausted);
        continue;
      }
      if (!repair) {
        EXPECT_TRUE(first || second || first_use) << "it began from nothing";
      }
      const std::uint64_t start = decided->start.value();
      EXPECT_GE(start, std::max(first.value_or(0), second.value_or(0)));
      EXPECT_GT(start, 0U);
      EXPECT_GT(decided->bound, decided->start);
      EXPECT_LE(decided->bound.value() - start, kCeilingBlock);
      EXPECT_TRUE(decided->bound.credible());
      EXPECT_LT(decided->wall_seconds, kMaxCeilingSeconds);
    }
  });
}

TEST(CeilingStart, IsTheGreatestOfTheBoundsAndTheClock) {
  const auto by_clock = start_above(sight(at(5), at(6))).value();
  EXPECT_EQ(by_clock.start.value(), kClock);
  EXPECT_EQ(by_clock.bound.value(), kClock + kCeilingBlock);
  EXPECT_EQ(by_clock.wall_seconds, kNow);
  EXPECT_TRUE(by_clock.notes.empty());
  EXPECT_FALSE(by_clock.new_space);
  EXPECT_EQ(by_clock.space, at(5).record.space);
  EXPECT_EQ(start_above(sight(at(kClock + 7), at(kClock + 9))).value().start.value(), kClock + 9);
  EXPECT_EQ(start_above(sight(at(kClock + 9), at(kClock + 7))).value().start.value(), kClock + 9);
}

TEST(CeilingStart, GoesOnFromOneCopy) {
  for (const CeilingCopy& other : {unreadable(), missing(), at(Epoch::kLimit), at(0)}) {
    for (const bool second : {false, true}) {
      const auto seen = second ? sight(other, at(kClock + 9)) : sight(at(kClock + 9), other);
      const auto decided = start_above(seen).value();
      EXPECT_EQ(decided.start.value(), kClock + 9);
      EXPECT_TRUE(noted(decided.notes, other.reading == Reading::missing ? "was missing" : "was damaged"));
    }
  }
}

TEST(CeilingStart, WithNoCopyIsRefusedUnlessTheSpaceIsNew) {
  for (const bool used : {false, true}) {
    for (const auto& [first, second] : {std::pair{unreadable(), unreadable()}, std::pair{unreadable(), missing()},
                                        std::pair{missing(), unreadable()}, std::pair{at(Epoch::kLimit), at(0)}}) {
      const auto refused = start_above(sight(first, second, kNow, used));
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, Code::epoch_unreadable);
      EXPECT_NE(refused.error().remedy.find("tenure space repair"), std::string::npos);
    }
  }
  EXPECT_EQ(start_above(sight(missing(), missing(), kNow, true)).error().code, Code::epoch_unreadable);
  const auto fresh = start_above(sight(missing(), missing(), kNow, false)).value();
  EXPECT_EQ(fresh.start.value(), kClock);
  EXPECT_TRUE(fresh.new_space);
  EXPECT_TRUE(fresh.notes.empty());
  const auto unset = start_above(sight(missing(), missing(), kBefore2020, false));
  ASSERT_FALSE(unset);
  EXPECT_EQ(unset.error().code, Code::epoch_unreadable);
  EXPECT_NE(unset.error().message.find("never set"), std::string::npos);
}

TEST(CeilingStart, DoesNotBelieveAClockThatCannotBeRight) {
  const auto late = start_above(sight(at(5), at(5), kTenYearsOn + 1)).value();
  EXPECT_EQ(late.start.value(), 5U);
  EXPECT_EQ(late.wall_seconds, kNow) << "else the next start would believe that clock";
  EXPECT_TRUE(noted(late.notes, "ten years"));
  EXPECT_EQ(start_above(sight(at(5), at(5), kTenYearsOn)).value().start.value(), kTenYearsOn * kEpochsPerWallSecond);
  const auto unset = start_above(sight(at(5), at(5), kBefore2020)).value();
  EXPECT_EQ(unset.start.value(), 5U);
  EXPECT_TRUE(noted(unset.notes, "never set"));
  EXPECT_EQ(start_above(sight(at(5, kHere, 0), at(5, kHere, 0))).value().start.value(), kClock)
      << "written when no clock could be believed";
  EXPECT_EQ(start_above(sight(at(5), at(5), 9'006'000'000)).value().start.value(), 5U) << "the latest stamp decides";
  EXPECT_TRUE(noted(start_above(sight(at(5, kHere, 0), missing(), 9'200'000'000)).value().notes, "cannot be"));
}

TEST(CeilingStart, JumpsInACopiedFolder) {
  const auto copied = start_above(sight(at(kClock + 5, kElsewhere), at(kClock + 5, kElsewhere))).value();
  EXPECT_EQ(copied.start.value(), kClock + 5 + kCopiedJump);
  EXPECT_TRUE(copied.new_space);
  EXPECT_TRUE(noted(copied.notes, "copied or restored"));
  EXPECT_EQ(start_above(sight(at(5, kElsewhere), at(5, kElsewhere))).value().start.value(), kClock);
  EXPECT_TRUE(noted(start_above(sight(at(5), at(5, kElsewhere))).value().notes, "copied or restored"));
  EXPECT_TRUE(noted(start_above(sight(at(5), at(5, kHere, kNow, 8))).value().notes, "copied or restored"))
      << "the copies are of two spaces";
  for (const std::uint64_t now : {kBefore2020, kTenYearsOn + 1}) {
    EXPECT_EQ(start_above(sight(at(5, kElsewhere), at(5, kElsewhere), now)).error().code, Code::epoch_unreadable);
  }
}

TEST(CeilingStart, EndsAtTheLimit) {
  const auto last = start_above(sight(at(Epoch::kLimit - 2), at(Epoch::kLimit - 2))).value();
  EXPECT_EQ(last.bound.value(), Epoch::kLimit - 1);
  EXPECT_EQ(start_above(sight(at(Epoch::kLimit - 1), at(5))).error().code, Code::epoch_exhausted);
}

TEST(CeilingRepair, GoesOnAboveWhatCanBeReadAndTheClock) {
  EXPECT_EQ(repaired_start(sight(unreadable(), missing())).value().start.value(), kClock);
  EXPECT_EQ(repaired_start(sight(unreadable(), at(kClock + 5))).value().start.value(), kClock + 5 + kCopiedJump);
  const auto late = repaired_start(sight(at(5), at(5), kTenYearsOn + 1)).value();
  EXPECT_EQ(late.start.value(), (kTenYearsOn + 1) * kEpochsPerWallSecond) << "the operator answers for the clock";
  EXPECT_EQ(late.wall_seconds, kTenYearsOn + 1);
  EXPECT_EQ(repaired_start(sight(at(5), unreadable(), kBefore2020)).value().start.value(), 5 + kCopiedJump);
  EXPECT_EQ(repaired_start(sight(unreadable(), unreadable(), kBefore2020)).error().code, Code::epoch_unreadable);
}

TEST(CeilingRaise, IsAlwaysAboveWhatIsNeededAndNeverLower) {
  for_each_world([](const CeilingSight& world) {
    for (const std::uint64_t needed :
         {std::uint64_t{0}, std::uint64_t{5}, kClock, Epoch::kLimit - 2, Epoch::kLimit - 1}) {
      const auto raised = raised_bound(world, Epoch(needed));
      if (needed == Epoch::kLimit - 1) {
        EXPECT_EQ(raised.error().code, Code::epoch_exhausted);
        continue;
      }
      ASSERT_TRUE(raised);
      EXPECT_GT(raised->bound.value(), needed);
      EXPECT_TRUE(raised->bound.credible());
      const std::uint64_t first = credible(world.first).value_or(0);
      const std::uint64_t second = credible(world.second).value_or(0);
      if (raised->stands) {
        EXPECT_EQ(raised->bound.value(), std::min(first, second)) << "more than both copies hold";
      } else {
        EXPECT_GE(raised->bound.value(), std::max(first, second)) << "a copy was lowered";
      }
    }
  });
}

TEST(CeilingRaise, StandsWhereBothCopiesReachFarEnough) {
  const std::uint64_t half = kCeilingBlock / 2;
  EXPECT_TRUE(raised_bound(sight(at(5 + half), at(6 + half)), Epoch(5)).value().stands);
  EXPECT_FALSE(raised_bound(sight(at(4 + half), at(6 + half)), Epoch(5)).value().stands);
  EXPECT_FALSE(raised_bound(sight(at(6 + half), missing()), Epoch(5)).value().stands);
  EXPECT_FALSE(raised_bound(sight(unreadable(), at(6 + half)), Epoch(5)).value().stands);
  EXPECT_FALSE(raised_bound(sight(at(6 + half, kElsewhere), at(6 + half)), Epoch(5)).value().stands) << "to be mended";
  const auto raised = raised_bound(sight(at(5), unreadable()), Epoch(9)).value();
  EXPECT_EQ(raised.bound.value(), 9 + kCeilingBlock);
  EXPECT_EQ(raised.space, at(5).record.space);
  EXPECT_EQ(raised_bound(sight(missing(), missing()), Epoch(9)).value().bound.value(), 9 + kCeilingBlock);
}

TEST(SameFolder, IsKnownByInodeAndBirthOrByAllThatThereIs) {
  const FolderMark other_device{.identity = {.device = 5, .inode = 2}, .born = 3};
  EXPECT_TRUE(same_folder(kHere, kHere));
  EXPECT_TRUE(same_folder(other_device, kHere)) << "the number of a device changes with a boot";
  EXPECT_FALSE(same_folder(kElsewhere, kHere));
  FolderMark unborn = kHere;
  unborn.born = 0;
  EXPECT_TRUE(same_folder(unborn, kHere));
  FolderMark unborn_elsewhere = other_device;
  unborn_elsewhere.born = 0;
  EXPECT_FALSE(same_folder(unborn_elsewhere, kHere));
}

}  // namespace
}  // namespace tenure::rules
