#include "rules/fence.h"

#include <gtest/gtest.h>

namespace tenure::rules {
namespace {

using Reading = FenceSight::Reading;
using Answer = SpaceSight::Answer;

const Key kKey = *Key::parse("deploy");

Observation held_under(std::uint64_t epoch) {
  Observation seen{.key = kKey, .state = State::held, .epoch = Epoch(epoch)};
  seen.verdict = {Liveness::live, "it runs"};
  return seen;
}

Code code_of(const Result<void>& result) {
  EXPECT_FALSE(result);
  return result ? Code::internal : result.error().code;
}

TEST(EpochCurrent, OnlyTheOneItIsHeldUnder) {
  EXPECT_TRUE(epoch_current(held_under(7), Epoch(7)));
  EXPECT_EQ(code_of(epoch_current(held_under(8), Epoch(7))), Code::lost);
  EXPECT_EQ(code_of(epoch_current(held_under(6), Epoch(7))), Code::lost);
  const auto over = epoch_current(held_under(8), Epoch(7));
  EXPECT_NE(over.error().message.find("held under epoch 8"), std::string::npos);
  EXPECT_TRUE(over.error().holder);
  const auto unknown = epoch_current(held_under(6), Epoch(7));
  EXPECT_NE(unknown.error().message.find("never granted"), std::string::npos);
}

TEST(EpochCurrent, NotOfAFreeKeyNorOfADamagedRecord) {
  Observation free{.key = kKey, .state = State::free, .epoch = Epoch(7)};
  EXPECT_EQ(code_of(epoch_current(free, Epoch(7))), Code::lost);
  Observation damaged = held_under(7);
  damaged.state = State::damaged;
  EXPECT_EQ(code_of(epoch_current(damaged, Epoch(7))), Code::damaged);
}

TEST(EpochCurrent, UnknownCountsAsLiveAndDeadDoesNot) {
  Observation seen = held_under(7);
  seen.verdict.liveness = Liveness::unknown;
  EXPECT_TRUE(epoch_current(seen, Epoch(7)));
  seen.claimable = true;
  EXPECT_EQ(code_of(epoch_current(seen, Epoch(7))), Code::expired);
  seen.verdict = {Liveness::dead, "pid 5 is gone"};
  EXPECT_EQ(code_of(epoch_current(seen, Epoch(7))), Code::lost);
}

class MayWrite : public testing::Test {
 protected:
  static FenceRecord record(std::uint64_t epoch) { return {Epoch(epoch), "deploy", "local:/x"}; }
  static FenceSight sidecar(std::uint64_t epoch) {
    return {Reading::value, record(epoch), std::nullopt, "/f/.a.fence"};
  }
  static FenceSight missing() { return {Reading::missing, {}, std::nullopt, "/f/.a.fence"}; }
  static SpaceSight says(Observation seen) { return {Answer::seen, std::move(seen), std::nullopt}; }
  static SpaceSight gone() {
    return {Answer::gone, std::nullopt, Error{Code::unreachable, "there is no folder /x", {}, nullptr}};
  }
  static SpaceSight failed() {
    return {Answer::failed, std::nullopt, Error{Code::not_permitted, "cannot open /x", {}, nullptr}};
  }
  // "raise", "keep", with " alone" where the sidecar alone let it in; or the code and what the message must say.
  static std::string outcome(const FenceSight& sight, const SpaceSight& space, std::uint64_t epoch) {
    const auto verdict = may_write(sight, space, record(epoch));
    if (!verdict) return std::string(facts(verdict.error().code).name);
    return std::string(verdict->raise ? "raise" : "keep") + (verdict->by_sidecar ? " alone" : "");
  }
};

TEST_F(MayWrite, TheTable) {
  struct Row {
    FenceSight sidecar;
    SpaceSight space;
    std::uint64_t epoch;
    const char* outcome;
  };
  const Row rows[] = {
      {missing(), says(held_under(7)), 7, "raise"},
      {missing(), says(held_under(8)), 7, "lost"},
      {missing(), says(held_under(6)), 7, "lost"},
      {missing(), gone(), 7, "unreachable"},
      {missing(), failed(), 7, "not_permitted"},
      {sidecar(7), says(held_under(7)), 7, "keep"},
      {sidecar(6), says(held_under(7)), 7, "raise"},
      {sidecar(8), says(held_under(8)), 7, "lost"},
      {sidecar(8), says(held_under(7)), 7, "lost"},  // a restored space
      {sidecar(7), says(held_under(8)), 7, "lost"},  // the successor has not written yet
      {sidecar(7), gone(), 7, "keep alone"},
      {sidecar(6), gone(), 7, "raise alone"},
      {sidecar(8), gone(), 7, "lost"},
      {sidecar(7), failed(), 7, "not_permitted"},
      {sidecar(8), failed(), 7, "lost"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(outcome(row.sidecar, row.space, row.epoch), row.outcome)
        << row.sidecar.record.epoch.text() << " and " << static_cast<int>(row.space.answer);
  }
}

// Whatever the space says, what was let in only rises.
TEST_F(MayWrite, NeverBelowTheSidecar) {
  for (std::uint64_t seen = 1; seen <= 4; ++seen) {
    for (std::uint64_t epoch = 1; epoch <= 4; ++epoch) {
      for (const SpaceSight& space : {gone(), failed(), says(held_under(1)), says(held_under(2)), says(held_under(4)),
                                      says(Observation{.key = kKey})}) {
        const auto verdict = may_write(sidecar(seen), space, record(epoch));
        if (!verdict) continue;
        EXPECT_GE(epoch, seen);
        EXPECT_EQ(verdict->raise, epoch > seen);
      }
    }
  }
}

TEST_F(MayWrite, WhoRefusedIsSaid) {
  const auto by_sidecar = may_write(sidecar(8), gone(), record(7));
  EXPECT_NE(by_sidecar.error().message.find("by the sidecar"), std::string::npos);
  const auto by_space = may_write(sidecar(7), says(held_under(8)), record(7));
  EXPECT_NE(by_space.error().message.find("by the space"), std::string::npos);
  const auto restored = may_write(sidecar(8), says(held_under(7)), record(7));
  EXPECT_NE(restored.error().message.find("restored"), std::string::npos);
  EXPECT_NE(restored.error().remedy.find("mv '/f/.a.fence' '/f/.a.fence.aside'"), std::string::npos);
}

TEST_F(MayWrite, AnotherGuardIsNamed) {
  for (const FenceRecord& guard :
       {FenceRecord{Epoch(3), "other", "local:/x"}, FenceRecord{Epoch(3), "deploy", "local:/y"},
        FenceRecord{Epoch(9), "other", "local:/y"}}) {
    const FenceSight sight{Reading::value, guard, std::nullopt, "/f/.a.fence"};
    for (const SpaceSight& space : {gone(), failed(), says(held_under(7))}) {
      const auto verdict = may_write(sight, space, record(7));
      ASSERT_FALSE(verdict);
      EXPECT_EQ(verdict.error().code, Code::usage);
      EXPECT_NE(verdict.error().message.find(guard.key), std::string::npos);
      EXPECT_NE(verdict.error().message.find(guard.space), std::string::npos);
    }
  }
}

TEST_F(MayWrite, AnUnreadableSidecarLetsNobodyIn) {
  const Error torn{Code::damaged, "/f/.a.fence: its checksum is wrong", {}, nullptr};
  const FenceSight sight{Reading::unreadable, {}, torn, "/f/.a.fence"};
  for (const SpaceSight& space : {gone(), failed(), says(held_under(7))}) {
    const auto verdict = may_write(sight, space, record(7));
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().code, Code::damaged);
    EXPECT_NE(verdict.error().remedy.find("mv "), std::string::npos);
  }
  // What failed in another way is not to be moved aside.
  const Error closed{Code::not_permitted, "cannot open /f/.a.fence", {}, nullptr};
  const auto verdict = may_write({Reading::unreadable, {}, closed, "/f/.a.fence"}, says(held_under(7)), record(7));
  EXPECT_EQ(verdict.error().code, Code::not_permitted);
  EXPECT_TRUE(verdict.error().remedy.empty());
}

}  // namespace
}  // namespace tenure::rules
