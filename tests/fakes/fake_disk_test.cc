// The disk forgets what it must, keeps what it must, and fails as planned.
#include "fakes/fake_disk.h"

#include <gtest/gtest.h>

#include <future>

namespace tenure::fakes {
namespace {

using std::chrono::seconds;

class FakeDiskTest : public testing::Test {
 protected:
  std::string read(const std::string& name) {
    auto content = folder->read(name, 1'000);
    return content && *content ? (*content)->bytes : "nothing";
  }

  std::shared_ptr<FakeWorld> world = FakeWorld::create();
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  std::shared_ptr<FakeDisk> disk = FakeDisk::create(world, clock);
  ProcessNumber process = world->spawn();
  std::unique_ptr<env::Directory> folder = disk->open(process);
};

TEST_F(FakeDiskTest, AnUnsyncedNameIsGoneAfterALossOfPower) {
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one", true));
  disk->lose_power();
  EXPECT_EQ(read("a"), "nothing");
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one", true));
  ASSERT_TRUE(folder->sync());
  ASSERT_TRUE(folder->replace("a", "a.tmp", "two", true));
  EXPECT_EQ(read("a"), "two");
  disk->lose_power();
  EXPECT_EQ(read("a"), "one");
}

TEST_F(FakeDiskTest, ARemovalThatWasNotSyncedComesBack) {
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one", true));
  ASSERT_TRUE(folder->sync());
  EXPECT_EQ(folder->remove("a").value_or(false), true);
  disk->lose_power();
  EXPECT_EQ(read("a"), "one");
}

TEST_F(FakeDiskTest, ANameThatSurvivesWithoutItsBytesIsEmptyOrTorn) {
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one two", false));
  disk->lose_power({.tear_at = std::nullopt, .names_survive = true});
  EXPECT_EQ(read("a"), "");
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one two", false));
  disk->lose_power({.tear_at = 3, .names_survive = true});
  EXPECT_EQ(read("a"), "one");
}

TEST_F(FakeDiskTest, AnOverwriteTearsOverTheFormerBytes) {
  disk->place("a", Placed::file, "old old old\n");
  const auto identity = (*folder->read("a", 100))->identity;
  ASSERT_TRUE(folder->overwrite("a", identity, "new new\n", false));
  EXPECT_EQ(read("a"), "new new    \n");
  disk->lose_power({.tear_at = 3, .names_survive = false});
  EXPECT_EQ(read("a"), "new old old\n");
  EXPECT_FALSE(folder->overwrite("a", FileIdentity{9, 9}, "x", false)) << "another file than was meant";
}

TEST_F(FakeDiskTest, AFullDiskRefusesGrowthAndNothingElse) {
  disk->place("a", Placed::file, "12345678\n");
  disk->set_capacity(9);
  auto refused = folder->replace("b", "b.tmp", "x", true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::no_space);
  EXPECT_EQ(disk->names(), std::vector<std::string>{"a"});
  EXPECT_TRUE(folder->overwrite("a", (*folder->read("a", 100))->identity, "1\n", true));
  EXPECT_TRUE(folder->remove("a"));
}

TEST_F(FakeDiskTest, OddThingsUnderANameAreDamage) {
  for (const Placed kind : {Placed::fifo, Placed::directory, Placed::link, Placed::foreign}) {
    disk->place("odd", kind);
    EXPECT_EQ(folder->read("odd", 100).error().code, Code::damaged);
    EXPECT_EQ(folder->lock("odd", seconds(1), nullptr).error().code, Code::damaged);
  }
  disk->place("odd", Placed::unreadable);
  EXPECT_EQ(folder->read("odd", 100).error().code, Code::not_permitted);
  disk->place("odd", Placed::file, std::string(101, 'x'));
  EXPECT_EQ(folder->read("odd", 100).error().code, Code::damaged);
}

TEST_F(FakeDiskTest, ASectionExcludesUntilItsHolderDies) {
  auto section = folder->lock("a.lock", seconds(1), nullptr);
  ASSERT_TRUE(section);
  EXPECT_TRUE((*section)->created());
  auto other = disk->open(world->spawn());
  auto waiting = std::async(std::launch::async, [&] { return other->lock("a.lock", seconds(10), nullptr); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  clock->advance(seconds(11));
  auto busy = waiting.get();
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::section_busy);
  EXPECT_NE(busy.error().message.find(std::to_string(world->pid_of(process))), std::string::npos);
  world->kill(process);
  auto entered = other->lock("a.lock", seconds(1), nullptr);
  ASSERT_TRUE(entered);
  EXPECT_FALSE((*entered)->created());
  section->reset();
  EXPECT_EQ(disk->locked(), std::vector<std::string>{"a.lock"}) << "the dead one's object let the living one's go";
}

TEST_F(FakeDiskTest, ALifeLockLastsUntilItsProcessAndItsChildAreGone) {
  auto life = folder->take_life("a.life", "a.tmp", false, false);
  ASSERT_TRUE(life);
  const ProcessNumber child = world->spawn();
  auto other = disk->open(world->spawn());
  auto watch = other->watch();
  ASSERT_TRUE(watch);
  disk->share_life("a.life", process, child);
  EXPECT_EQ(other->take_life("a.life", "a.tmp", false, false).error().code, Code::held);
  world->kill(process);
  EXPECT_EQ(other->probe_life("a.life", (*life)->identity()).sight, LifeSight::held);
  world->kill(child);
  EXPECT_EQ(other->probe_life("a.life", (*life)->identity()).sight, LifeSight::free);
  EXPECT_EQ((*watch)->wait(seconds(1), nullptr, -1)->names, std::vector<std::string>{"a.life"});
  ASSERT_TRUE(other->take_life("a.life", "a.tmp", true, false));
  EXPECT_EQ(other->probe_life("a.life", (*life)->identity()).sight, LifeSight::other_file);
  EXPECT_EQ(other->probe_life("b.life", std::nullopt).sight, LifeSight::absent);
}

TEST_F(FakeDiskTest, FaultsComeAsPlanned) {
  auto faults = disk->faults(process);
  faults->at("replace.rename", 2, {Fault::Kind::refuse, Code::input_output});
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one", false));
  EXPECT_EQ(folder->replace("a", "a.tmp", "two", false).error().code, Code::input_output);
  EXPECT_EQ(read("a"), "one");
  EXPECT_EQ(disk->names(), std::vector<std::string>{"a"}) << "the temporary file stayed";
  faults->at("remove", 1, {Fault::Kind::lose_answer, Code::input_output});
  EXPECT_FALSE(folder->remove("a"));
  EXPECT_EQ(read("a"), "nothing") << "the answer was to be lost, not the deed";
  faults->at_call(2, {Fault::Kind::die_after, Code::internal});
  EXPECT_FALSE(folder->replace("b", "b.tmp", "three", true));
  EXPECT_FALSE(world->running(process));
  EXPECT_EQ(disk->names(), std::vector<std::string>{"b.tmp"}) << "a dead process tidied up";
  EXPECT_FALSE(folder->remove("b.tmp")) << "a dead process went on";
}

TEST_F(FakeDiskTest, AWatchTellsOnceAndAPollTellsEverything) {
  auto watch = folder->watch();
  disk->refuse_watches(true);
  auto poll = folder->watch();
  ASSERT_TRUE(watch && poll);
  ASSERT_TRUE(folder->replace("a", "a.tmp", "one", false));
  EXPECT_EQ((*watch)->wait(seconds(1), nullptr, -1)->names, std::vector<std::string>{"a"});
  EXPECT_TRUE((*poll)->wait(seconds(1), nullptr, -1)->everything);
  auto stop = Stop::create();
  ASSERT_TRUE(stop);
  stop->request();
  EXPECT_TRUE((*watch)->wait(seconds(1), &*stop, -1)->names.empty());
  disk->overflow_watches();
  EXPECT_TRUE((*watch)->wait(seconds(1), nullptr, -1)->everything);
}

}  // namespace
}  // namespace tenure::fakes
