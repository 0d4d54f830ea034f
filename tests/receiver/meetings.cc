#include "receiver/meetings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace tenure::tests {

void leave_a_stale_guard(Schedule& schedule) {
  const auto process = schedule.world->spawn({});
  auto core = schedule.core_of(process, nullptr);
  auto pass =
      receiver::make_pass(*core, core->root, "of-the-dead", "tenure-00000000-0000-4000-8000-000000000000", false);
  ASSERT_TRUE(pass) << pass.error().message;
  ASSERT_TRUE(*core->root->link(pass->name, *core->root, receiver::kGuard));
  schedule.world->kill(process);
}

namespace {

void nothing_stays(Schedule& schedule, const std::set<std::string>& of_the_dead) {
  const auto names = schedule.disk->names();
  const bool guard = std::ranges::find(names, receiver::kGuard) != names.end();
  const auto intents = schedule.disk->names(receiver::kReclaims);
  if (of_the_dead.empty()) {
    EXPECT_FALSE(guard) << schedule.words();
    EXPECT_TRUE(intents.empty()) << intents.front() << "\n" << schedule.words();
  }
}

}  // namespace

void all_the_living_were_inside(Schedule& schedule) {
  std::set<std::string> dead;
  for (const auto& party : schedule.parties) {
    if (party->dead) dead.insert(party->name);
    EXPECT_TRUE(party->dead || party->ended) << party->name << " waits for ever:\n" << schedule.words();
    EXPECT_TRUE(party->failure.empty()) << party->name << ": " << party->failure << "\n" << schedule.words();
  }
  nothing_stays(schedule, dead);
}

void tell(const char* name, const Explored& explored) {
  testing::Test::RecordProperty(std::string(name) + "_states", std::to_string(explored.states));
  std::printf("%s: %zu states, %zu schedules, %zu ends\n", name, explored.states, explored.schedules, explored.ends);
}

}  // namespace tenure::tests
