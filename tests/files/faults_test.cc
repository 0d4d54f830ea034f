// Every call that a verb makes to the disk fails in turn, in every way: refused, or done and the answer lost. Then: the
// error is clear, nothing is lost, never do two hold, and nothing is left behind.
#include <gtest/gtest.h>

#include "files/scenarios.h"

namespace tenure::tests {
namespace {

constexpr Code kCodes[] = {Code::no_space, Code::input_output, Code::no_descriptors, Code::read_only,
                           Code::not_permitted};

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

bool says(const Error& error, const std::string& words) {
  return error.message.find(words) != std::string::npos;
}

class Faults : public ::testing::TestWithParam<Named> {
 protected:
  const Scenario& scenario = *GetParam().scenario;

  void check(Stage& stage, const Fault& fault, const std::string& call, const Ending& ending) {
    if (ending) clear_words(stage, fault, call, *ending);
    const bool others_standing = stage.others && !scenario.ends_other;
    if (others_standing) {
      EXPECT_EQ(holders(stage), 1) << "another's lease was lost by it";
    }
    if (ending && facts(ending->code).outcome == Outcome::refused && stage.actors) {
      auto standing = stage.actor.engine->verify(ref(*stage.actors));
      EXPECT_TRUE(standing || standing.error().code == Code::expired)
          << "refused, and yet it is lost: " << standing.error().message;
    }
    // Of an unknown end it knows that it must look again, and does not believe that it holds.
    if (ending && ending->code == Code::unknown_outcome) stage.actors.reset();
    recover(stage);
  }

  // The port's own words go through, so that the name of the file and the system's word reach the person.
  static void clear_words(Stage& stage, const Fault& fault, const std::string& call, const Error& error) {
    if (error.code == Code::held || error.code == Code::held_by_part) return;  // what it would have said anyway
    if (call == "probe_life" && error.code == Code::holder_live) {
      EXPECT_TRUE(says(error, "its life lock cannot be asked")) << error.message;
      return;
    }
    EXPECT_TRUE(error.code == fault.code || error.code == Code::unknown_outcome) << facts(error.code).name;
    EXPECT_TRUE(says(error, "planned fault in " + call) || says(error, "answer of " + call)) << error.message;
    if (error.code == Code::unknown_outcome) {
      EXPECT_TRUE(says(error, kKey) || says(error, stage.actor.engine->location())) << error.message;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(at_each_call, Faults, ::testing::ValuesIn(all()), name_of);

TEST_P(Faults, are_told_clearly_and_lose_nothing) {
  const std::size_t calls = calls_of(scenario);
  for (const Code code : kCodes) {
    for (const Fault::Kind kind : {Fault::Kind::refuse, Fault::Kind::lose_answer}) {
      for (std::size_t nth = 1; nth <= calls; ++nth) {
        Stage stage;
        scenario.prepare(stage);
        const auto plan = stage.world.disk->faults(stage.actor.number);
        const std::size_t before = plan->calls().size();
        plan->at_call(nth, {kind, code});
        const Ending ending = scenario.act(stage);
        plan->clear();
        const std::string call = plan->calls().at(before + nth - 1);
        SCOPED_TRACE(std::string(facts(code).name) + (kind == Fault::Kind::refuse ? " in " : " as the answer of ") +
                     call + ", call " + std::to_string(nth) + (ending ? ": " + ending->message : ": done"));
        check(stage, {kind, code}, call, ending);
      }
    }
  }
}

// Not one call fails but all of a kind, as on a disk that is full or was mounted read-only.
TEST_P(Faults, of_a_disk_that_cannot_be_written_lose_nothing) {
  for (const bool full : {true, false}) {
    SCOPED_TRACE(full ? "full" : "read-only");
    Stage stage;
    scenario.prepare(stage);
    if (full) {
      stage.world.disk->set_capacity(0);
      stage.world.disk->set_max_names(0);
    } else {
      stage.world.disk->set_read_only(true);
    }
    const Ending ending = scenario.act(stage);
    if (ending && ending->code != Code::held) {
      const Code code = full ? Code::no_space : Code::read_only;
      EXPECT_TRUE(ending->code == code || ending->code == Code::unknown_outcome) << facts(ending->code).name;
    }
    stage.world.disk->set_capacity(static_cast<std::size_t>(-1));
    stage.world.disk->set_max_names(static_cast<std::size_t>(-1));
    stage.world.disk->set_read_only(false);
    if (ending && ending->code == Code::unknown_outcome) stage.actors.reset();
    recover(stage);
  }
}

// ---- a full disk ----------------------------------------------------------------------------------------------------

class FullDisk : public ::testing::Test {
 protected:
  void fill() {
    stage.world.disk->set_capacity(0);
    stage.world.disk->set_max_names(0);
  }
  Stage stage;
};

TEST_F(FullDisk, D3_RenewalAndReleaseWork) {
  ClaimRequest wanted = request(kKey, "actor");
  wanted.terms.ttl = 1h;
  const Grant grant = stage.claim(stage.actor, "actor", wanted);
  fill();
  for (int beat = 0; beat < 20; ++beat) {
    stage.world.clock->advance(5s);
    EXPECT_TRUE(stage.actor.engine->beat(ref(grant)));
    auto renewed = stage.actor.engine->renew(ref(grant));
    EXPECT_TRUE(renewed) << renewed.error().message;
  }
  auto released = stage.actor.engine->release(ref(grant));
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE(released->released);
  EXPECT_FALSE(stage.world.disk->bytes(stage.record()));
}

TEST_F(FullDisk, ATakeoverOfADeadHoldersRecordIsMadeWhereItLies) {
  FilesClient& dead = stage.make_other();
  const Grant grant = stage.claim(dead, "other");
  stage.world.world->kill(dead.number);
  fill();
  auto taken = stage.actor.engine->try_claim(request(kKey, "actor"));
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_GT(taken->epoch, grant.epoch);
  EXPECT_TRUE(stage.actor.engine->verify(ref(*taken)));
  EXPECT_EQ(stage.world.client().engine->holder(key(kKey))->holder->owner, "actor");
  stage.world.world->reboot("machine-a");
  stage.world.disk->lose_power();
  auto after = stage.world.client().engine->holder(key(kKey));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->epoch, taken->epoch) << "it was not durable";
}

TEST_F(FullDisk, AFreshClaimIsRefusedByNameAndTheKeyIsFreeWhenThereIsSpace) {
  fill();
  auto refused = stage.actor.engine->try_claim(request(kKey, "actor"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::no_space);
  stage.world.disk->set_max_names(static_cast<std::size_t>(-1));  // names, but no bytes
  refused = stage.actor.engine->try_claim(request(kKey, "actor"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::no_space);
  stage.world.disk->set_capacity(static_cast<std::size_t>(-1));
  EXPECT_TRUE(stage.actor.engine->try_claim(request(kKey, "actor")));
}

TEST_F(FullDisk, ARefusedClaimantWithoutRoomForItsFirstSightStillComesToAnEnd) {
  FilesClient& far = stage.make_other({.machine = "machine-b", .host = "host-b"});
  stage.claim(far, "other");
  stage.world.world->kill(far.number);
  fill();
  EXPECT_EQ(stage.actor.engine->try_claim(request(kKey, "actor")).error().code, Code::held);
  stage.world.clock->advance(16s);
  auto taken = stage.actor.engine->try_claim(request(kKey, "actor"));
  EXPECT_TRUE(taken) << taken.error().message;
}

}  // namespace
}  // namespace tenure::tests
