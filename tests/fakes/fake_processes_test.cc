// Fake processes look to each other as real ones would.
#include "fakes/fake_processes.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace tenure::fakes {
namespace {

using Existence = ProcessSight::Existence;
using Stat = ProcessSight::Stat;

bool readable(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

class FakeProcessesTest : public testing::Test {
 protected:
  std::shared_ptr<FakeWorld> world = FakeWorld::create();
  ProcessNumber one = world->spawn();
  ProcessNumber two = world->spawn();
  std::int32_t pid = world->pid_of(one);
  std::shared_ptr<const env::Processes> sight = world->view(two);
};

TEST_F(FakeProcessesTest, RunningStoppedZombieAndGone) {
  EXPECT_EQ(sight->look(pid).state, 'S');
  EXPECT_EQ(sight->identify(pid).value(), world->identity_of(one));
  world->stop(one);
  EXPECT_EQ(sight->look(pid).state, 'T');
  world->resume(one);
  const int death = sight->death_descriptor(pid);
  ASSERT_GE(death, 0);
  world->make_zombie(one, 3);
  EXPECT_EQ(sight->look(pid).state, 'Z');
  EXPECT_EQ(sight->look(pid).other_threads, 3U);
  EXPECT_FALSE(readable(death));
  world->make_zombie(one, 0);
  EXPECT_TRUE(readable(death));
  EXPECT_EQ(sight->look(pid).existence, Existence::exists);
  world->kill(one);
  EXPECT_EQ(sight->look(pid).existence, Existence::absent);
  EXPECT_EQ(sight->death_descriptor(pid), -1);
  ::close(death);
}

TEST_F(FakeProcessesTest, AReusedPidHasAnotherStart) {
  const ProcessNumber again = world->reuse_pid(one);
  EXPECT_EQ(world->pid_of(again), pid);
  EXPECT_NE(sight->look(pid).start_ticks, world->identity_of(one).start_ticks);
  EXPECT_FALSE(world->running(one));
}

TEST_F(FakeProcessesTest, HiddenAndBlindAndElsewhere) {
  world->hide(one, two);
  EXPECT_EQ(sight->look(pid).existence, Existence::exists);
  EXPECT_EQ(sight->look(pid).stat, Stat::absent);
  const auto blind = world->view(world->spawn({.proc_usable = false, .sees_pids = false}));
  EXPECT_EQ(blind->look(pid).existence, Existence::cannot_tell);
  EXPECT_EQ(blind->look(pid).stat, Stat::unusable);
  const auto elsewhere = world->view(world->spawn({.machine = "machine-b"}));
  EXPECT_EQ(elsewhere->look(pid).existence, Existence::absent);
  EXPECT_NE(elsewhere->self().identity.boot_id, sight->self().identity.boot_id);
}

TEST_F(FakeProcessesTest, ARebootEndsTheMachinesProcessesAndChangesItsBoot) {
  const ProcessNumber elsewhere = world->spawn({.machine = "machine-b"});
  int deaths = 0;
  world->on_death([&](ProcessNumber) { ++deaths; });
  world->reboot("machine-a");
  EXPECT_EQ(deaths, 2);
  EXPECT_FALSE(world->running(one));
  EXPECT_TRUE(world->running(elsewhere));
  EXPECT_NE(world->identity_of(world->spawn()).boot_id, world->identity_of(one).boot_id);
}

TEST_F(FakeProcessesTest, ASearchFindsAnybodyAndCallsGoneOnlyWhomItWouldHaveSeen) {
  const std::uint64_t start = world->identity_of(one).start_ticks;
  EXPECT_EQ(sight->find(pid, start), Anywhere::found);
  EXPECT_EQ(sight->find(pid, start + 1), Anywhere::nowhere);
  EXPECT_EQ(sight->find(pid + 999, start), Anywhere::nowhere);
  const ProcessNumber inner = world->spawn({.pid = 7, .pid_namespace = 99});
  const std::uint64_t inner_start = world->identity_of(inner).start_ticks;
  EXPECT_EQ(sight->find(7, inner_start), Anywhere::found);
  const auto from_within = world->view(inner);
  EXPECT_EQ(from_within->find(7, inner_start), Anywhere::found);
  EXPECT_EQ(from_within->find(pid, start), Anywhere::unseen);
  EXPECT_EQ(world->view(world->spawn({.machine = "machine-b"}))->find(pid, start), Anywhere::nowhere);
  world->stop(one);
  EXPECT_EQ(sight->find(pid, start), Anywhere::found);
  world->make_zombie(one, 1);
  EXPECT_EQ(sight->find(pid, start), Anywhere::found);
  world->make_zombie(one, 0);
  EXPECT_EQ(sight->find(pid, start), Anywhere::nowhere);
  world->kill(one);
  EXPECT_EQ(sight->find(pid, start), Anywhere::nowhere);
}

TEST_F(FakeProcessesTest, ASearchBySomebodyWhoIsBlindOrAmongHiddenOnesProvesNothing) {
  const std::uint64_t start = world->identity_of(one).start_ticks;
  const auto blind = world->view(world->spawn({.proc_usable = false}));
  EXPECT_EQ(blind->find(pid, start), Anywhere::unseen);
  EXPECT_EQ(world->view(world->spawn({.sees_pids = false}))->find(pid + 999, start), Anywhere::unseen);
  const ProcessNumber elsewhen = world->spawn({.pid = 8, .pid_namespace = 99, .time_namespace = 98});
  EXPECT_EQ(sight->find(8, 1), Anywhere::unseen) << "its ticks are counted from another start";
  EXPECT_EQ(sight->find(9, 1), Anywhere::nowhere);
  world->kill(elsewhen);
  EXPECT_EQ(sight->find(8, 1), Anywhere::nowhere);
  world->hide(one, two);
  EXPECT_EQ(sight->find(pid, start), Anywhere::unseen);
  EXPECT_EQ(sight->find(pid + 999, start), Anywhere::unseen);
}

}  // namespace
}  // namespace tenure::fakes
