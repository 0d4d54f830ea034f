// The process is killed before and after every call that a verb makes to the disk, all of them in turn; then another
// process comes. And the same with the power: all that was not synced is gone, or half of it.
#include <gtest/gtest.h>

#include "files/scenarios.h"

namespace tenure::tests {
namespace {

constexpr std::size_t kCallsOfAClaim = 24;  // and some

struct Named {
  const Scenario* scenario;
};

std::vector<Named> all() {
  std::vector<Named> named;
  for (const Scenario& scenario : scenarios()) named.push_back({&scenario});
  return named;
}

std::string name_of(const ::testing::TestParamInfo<Named>& info) {
  std::string name = info.param.scenario->name;
  for (char& c : name) {
    if (c == ' ' || c == ',') c = '_';
  }
  return name;
}

class Deaths : public ::testing::TestWithParam<Named> {
 protected:
  const Scenario& scenario = *GetParam().scenario;

  // The world as the verb left it, its `nth` call being the last; beyond the last call: when it was done.
  std::unique_ptr<Stage> killed(std::size_t nth, Fault::Kind how) {
    auto stage = std::make_unique<Stage>();
    scenario.prepare(*stage);
    const auto plan = stage->world.disk->faults(stage->actor.number);
    plan->at_call(nth, {how, Code::internal});
    scenario.act(*stage);
    stage->world.world->kill(stage->actor.number);
    plan->clear();
    return stage;
  }

  static void lose_power(Stage& stage, const fakes::PowerLoss& how) {
    for (const char* machine : {"machine-a", "machine-b"}) stage.world.world->reboot(machine);
    stage.world.disk->lose_power(how);
  }
};
INSTANTIATE_TEST_SUITE_P(at_each_call, Deaths, ::testing::ValuesIn(all()), name_of);

TEST_P(Deaths, D1_before_and_after_every_call_leave_a_key_that_can_be_had) {
  const std::size_t calls = calls_of(scenario);
  ASSERT_GT(calls, 0U);
  for (const Fault::Kind how : {Fault::Kind::die_before, Fault::Kind::die_after}) {
    for (std::size_t nth = 1; nth <= calls + 1; ++nth) {
      SCOPED_TRACE((how == Fault::Kind::die_before ? "before call " : "after call ") + std::to_string(nth));
      auto stage = killed(nth, how);
      const bool others_standing = stage->others && !scenario.ends_other;
      if (others_standing) {
        EXPECT_EQ(holders(*stage), 1) << "another's lease was lost by it";
      }
      recover(*stage);
    }
  }
}

TEST_P(Deaths, D5_a_loss_of_power_after_every_call_gives_no_number_twice) {
  const std::size_t calls = calls_of(scenario);
  std::vector<fakes::PowerLoss> ways;
  for (const bool names_survive : {false, true}) {
    ways.push_back({std::nullopt, names_survive});
    for (const std::size_t tear_at : {0U, 1U, 2U, 17U, 40U, 300U}) ways.push_back({tear_at, names_survive});
  }
  for (std::size_t nth = 1; nth <= calls + 1; ++nth) {
    for (const fakes::PowerLoss& way : ways) {
      SCOPED_TRACE("after call " + std::to_string(nth) + (way.names_survive ? ", names survive" : ", names are gone") +
                   (way.tear_at ? ", torn at " + std::to_string(*way.tear_at) : ""));
      auto stage = killed(nth, Fault::Kind::die_after);
      lose_power(*stage, way);
      recover(*stage);
    }
  }
}

// A second loss while the first is being recovered from.
TEST_P(Deaths, D5_a_loss_of_power_after_the_recovery_from_one_gives_no_number_twice) {
  const std::size_t calls = calls_of(scenario);
  for (std::size_t nth = 1; nth <= calls + 1; ++nth) {
    SCOPED_TRACE("after call " + std::to_string(nth));
    for (std::size_t second = 1; second <= kCallsOfAClaim; ++second) {
      for (const std::size_t tear_at : {0U, 1U, 2U, 17U}) {
        SCOPED_TRACE("then after call " + std::to_string(second) + " of a claim, torn at " + std::to_string(tear_at));
        auto stage = killed(nth, Fault::Kind::die_after);
        lose_power(*stage, {tear_at, true});
        FilesClient next = stage->world.client();
        stage->world.clock->advance(20s);
        stage->world.disk->faults(next.number)->at_call(second, {Fault::Kind::die_after, Code::internal});
        stage->note(next.engine->try_claim(request(kKey, "next")));
        lose_power(*stage, {tear_at, true});
        recover(*stage);
      }
    }
  }
}

}  // namespace
}  // namespace tenure::tests
