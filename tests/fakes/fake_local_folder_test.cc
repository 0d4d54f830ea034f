// The fake folder of a local space does to its members what a kernel does.
#include "fakes/fake_local_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <semaphore>

namespace tenure::fakes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kPage = 4'096;
constexpr std::size_t kReserve = std::size_t{60} << 20U;
constexpr std::chrono::seconds kPatience{20};

struct Member {
  ProcessNumber process;
  std::unique_ptr<env::LocalFolder> folder;
};

class FakeLocalFolderTest : public testing::Test {
 protected:
  Member spawn(const Birth& birth = {}) {
    const ProcessNumber process = world->spawn(birth);
    return {process, store->open(process)};
  }
  Member enter() {
    Member member = spawn();
    EXPECT_TRUE(member.folder->enter(seconds(1)));
    return member;
  }
  // The first one in, with a table of one page.
  env::SharedMemory* make_table(const Member& member) {
    EXPECT_EQ(member.folder->enter_alone().value_or(false), true);
    auto table = member.folder->make_table(kPage, kReserve, [](std::byte*) {});
    EXPECT_TRUE(table && *table != nullptr);
    EXPECT_TRUE(member.folder->let_others_in());
    return keep(std::move(*table));
  }
  env::SharedMemory* map(const Member& member) {
    return keep(member.folder->map_table(kPage, kReserve).value_or(nullptr));
  }
  env::SharedMemory* keep(std::unique_ptr<env::SharedMemory> table) {
    return tables.emplace_back(std::move(table)).get();
  }
  static env::Word& word(const env::SharedMemory* table, std::size_t index) {
    return *reinterpret_cast<env::Word*>(table->data() + index * sizeof(env::Word));
  }
  static env::KeeperJob job(const env::SharedMemory* table, std::function<void()> round) {
    return {.life = &word(table, 1), .inbox = &word(table, 2), .round = std::move(round), .every = seconds(5)};
  }

  // They outlive the members of a test, whose keepers use them.
  std::vector<std::unique_ptr<env::SharedMemory>> tables;
  std::shared_ptr<FakeWorld> world = FakeWorld::create();
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  std::shared_ptr<FakeLocalStore> store = FakeLocalStore::create(world, clock);
};

TEST_F(FakeLocalFolderTest, MembersShareOneMemoryThatGrowsInPlace) {
  const Member a = enter();
  EXPECT_EQ(map(a), nullptr) << "there is no table yet";
  auto mine = make_table(a);
  const Member b = enter();
  auto yours = map(b);
  ASSERT_NE(yours, nullptr);
  EXPECT_EQ(yours->size(), kReserve);
  EXPECT_EQ(yours->identity(), mine->identity());
  word(mine, 0) = 7;
  EXPECT_EQ(word(yours, 0), 7U);
  store->set_capacity(2 * kPage);
  ASSERT_TRUE(yours->allocate(2 * kPage));
  EXPECT_EQ(word(mine, kPage / sizeof(env::Word)), 0U) << "what one allocates, all may touch";
  EXPECT_EQ(mine->allocate(3 * kPage).error().code, Code::no_space);
  EXPECT_TRUE(mine->allocate(kPage)) << "it never shrinks, and asks for nothing then";
  EXPECT_EQ(b.folder->map_table(3 * kPage, kReserve).error().code, Code::damaged) << "too short";
}

TEST_F(FakeLocalFolderTest, ATableIsMadeByOneWhoIsAloneAndNobodyComesInMeanwhile) {
  Member a = enter();
  {
    const Member b = enter();
    EXPECT_EQ(a.folder->enter_alone().value_or(true), false);
    EXPECT_EQ(a.folder->make_table(kPage, kReserve, [](std::byte*) {}).error().code, Code::internal);
  }
  ASSERT_EQ(a.folder->enter_alone().value_or(false), true);
  const Member late = spawn();
  auto waiting = std::async(std::launch::async, [&] { return late.folder->enter(seconds(10)); });
  EXPECT_EQ(waiting.wait_for(milliseconds(20)), std::future_status::timeout);
  clock->advance(seconds(11));
  auto busy = waiting.get();
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::section_busy);
  EXPECT_NE(busy.error().message.find("/lock"), std::string::npos) << busy.error().message;
  world->kill(a.process);
  EXPECT_TRUE(late.folder->enter(seconds(1)));
  EXPECT_EQ(store->inside(), std::vector<ProcessNumber>{late.process});
  EXPECT_EQ(late.folder->enter_alone().value_or(false), true) << "the dead one is still in";
}

TEST_F(FakeLocalFolderTest, AByteIsHeldUntilItsProcessIsGone) {
  const Member a = enter();
  const Member b = enter();
  EXPECT_EQ(a.folder->take_byte(3).value_or(false), true);
  EXPECT_EQ(b.folder->take_byte(3).value_or(true), false);
  EXPECT_EQ(b.folder->probe_byte(3), env::LocalFolder::ByteSight::held);
  EXPECT_EQ(b.folder->probe_byte(4), env::LocalFolder::ByteSight::free);
  a.folder->drop_byte(3);
  EXPECT_EQ(b.folder->probe_byte(3), env::LocalFolder::ByteSight::free);
  EXPECT_EQ(a.folder->take_byte(3).value_or(false), true);
  world->kill(a.process);
  EXPECT_EQ(b.folder->probe_byte(3), env::LocalFolder::ByteSight::free);
  EXPECT_FALSE(a.folder->take_byte(3)) << "a dead process took a byte";
  store->disk().place("lock", Placed::unreadable);
  EXPECT_EQ(b.folder->probe_byte(3), env::LocalFolder::ByteSight::unreadable);
}

TEST_F(FakeLocalFolderTest, APassedByteOutlivesItsParentInAChild) {
  const Member a = enter();
  const Member b = enter();
  auto passed = a.folder->pass_byte(9);
  ASSERT_TRUE(passed);
  EXPECT_GE((*passed)->descriptor(), 0);
  EXPECT_EQ(a.folder->pass_byte(9).error().code, Code::held);
  const ProcessNumber child = world->spawn();
  EXPECT_TRUE(store->share_byte(9, a.process, child));
  EXPECT_FALSE(store->share_byte(8, a.process, child));
  world->kill(a.process);
  passed->reset();
  EXPECT_EQ(b.folder->probe_byte(9), env::LocalFolder::ByteSight::held);
  world->kill(child);
  EXPECT_EQ(b.folder->probe_byte(9), env::LocalFolder::ByteSight::free);
  auto mine = b.folder->pass_byte(9);
  ASSERT_TRUE(mine);
  mine->reset();
  EXPECT_FALSE(store->byte_held(9));
}

TEST_F(FakeLocalFolderTest, ADeathFlagsTheWordWakesOneSleeperAndLetsGoAfterIt) {
  const Member a = enter();
  auto mine = make_table(a);
  const Member b = enter();
  auto yours = map(b);
  ASSERT_EQ(a.folder->take_byte(1).value_or(false), true);
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [] {})));
  const std::uint32_t thread = word(yours, 1);
  EXPECT_NE(thread & env::kThreadMask, 0U);
  word(yours, 1) = thread | env::kSleepersBit;
  store->set_longest_sleep(kPatience);
  store->die_slowly(a.process);
  auto sleeper = std::async(std::launch::async, [&] {
    const std::array<env::Watched, 2> watched{env::Watched{&word(yours, 3), 0},
                                              env::Watched{&word(yours, 1), thread | env::kSleepersBit}};
    store->words(b.process)->wait(watched, kPatience);
  });
  world->kill(a.process);
  sleeper.get();
  EXPECT_EQ(store->wakes().ran_out, 0U) << "the sleeper was not woken";
  EXPECT_EQ(word(yours, 1), env::kSleepersBit | env::kFlaggedBit) << "as the kernel leaves it";
  EXPECT_EQ(b.folder->probe_byte(1), env::LocalFolder::ByteSight::held);
  EXPECT_EQ(b.folder->enter_alone().value_or(true), false);
  store->let_go(a.process);
  EXPECT_EQ(b.folder->probe_byte(1), env::LocalFolder::ByteSight::free);
  EXPECT_EQ(b.folder->enter_alone().value_or(false), true);
}

TEST_F(FakeLocalFolderTest, AWordThatTheKeeperNoLongerHoldsIsLeftAlone) {
  const Member a = enter();
  auto mine = make_table(a);
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [] {})));
  const Member b = enter();
  auto yours = map(b);
  word(yours, 1) = 77;
  world->kill(a.process);
  EXPECT_EQ(word(yours, 1), 77U);
}

TEST_F(FakeLocalFolderTest, WhatAKilledProcessStillWritesIsSeenByNobody) {
  store = FakeLocalStore::create(world, clock, Mappings::each_its_own);
  const Member a = enter();
  auto mine = make_table(a);
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [] {})));
  const Member b = enter();
  auto yours = map(b);
  EXPECT_NE(mine->data(), yours->data());
  word(mine, 0) = 1;
  world->kill(a.process);
  word(mine, 0) = 2;
  EXPECT_EQ(word(yours, 0), 1U);
  EXPECT_EQ(word(mine, 0), 2U);
  EXPECT_NE(word(mine, 1) & env::kFlaggedBit, 0U) << "it cannot see that it is dead";
}

TEST_F(FakeLocalFolderTest, AKeeperComesWhenItIsKnockedForAndNoMoreAfterItsDeath) {
  const Member a = enter();
  auto mine = make_table(a);
  std::counting_semaphore<> rounds(0);
  std::atomic<int> count{0};
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [&] {
    count += 1;
    rounds.release();
  })));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(rounds.try_acquire_for(kPatience)) << "not even by the real clock";
    word(mine, 2) += 1;
    store->words(a.process)->wake(word(mine, 2), 1);
  }
  a.folder->stop_keeper();
  EXPECT_EQ(word(mine, 1), 0U);
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [&] { count += 1; })));
  world->kill(a.process);
  a.folder->stop_keeper();  // waits for a round that was under way
  const int before = count;
  word(mine, 2) += 1;
  wake_sleepers(word(mine, 2), 1);
  EXPECT_EQ(count, before);
}

TEST_F(FakeLocalFolderTest, AKeeperThatIsKilledAloneFlagsItsWordAndNothingElseIsLetGo) {
  const Member a = enter();
  auto mine = make_table(a);
  const Member b = enter();
  ASSERT_EQ(a.folder->take_byte(1).value_or(false), true);
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [] {})));
  store->kill_keeper(a.process);
  EXPECT_EQ(word(mine, 1), env::kFlaggedBit);
  EXPECT_EQ(b.folder->probe_byte(1), env::LocalFolder::ByteSight::held);
  store->refuse_keepers(true);
  EXPECT_EQ(b.folder->start_keeper(job(mine, [] {})).error().code, Code::unsupported);
}

TEST_F(FakeLocalFolderTest, KeepersOfTwoPidNamespacesMayHaveOneThreadId) {
  const Member a = enter();
  auto mine = make_table(a);
  const Member b = spawn({.pid_namespace = 7});
  ASSERT_TRUE(b.folder->enter(seconds(1)));
  auto yours = map(b);
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [] {})));
  ASSERT_TRUE(
      b.folder->start_keeper({.life = &word(yours, 4), .inbox = &word(yours, 5), .round = [] {}, .every = seconds(5)}));
  EXPECT_EQ(word(mine, 1), word(mine, 4));
  world->kill(b.process);
  EXPECT_EQ(word(mine, 1) & env::kFlaggedBit, 0U);
  EXPECT_EQ(word(mine, 4) & env::kFlaggedBit, env::kFlaggedBit);
}

TEST_F(FakeLocalFolderTest, AStrangerDeletesReplacesAndSpoils) {
  const Member a = enter();
  auto mine = make_table(a);
  EXPECT_EQ(a.folder->in_place(*mine).value_or(false), true);
  store->scribble(1, 0, 16);
  EXPECT_NE(word(mine, 0), 0U);
  store->delete_table();
  EXPECT_EQ(a.folder->in_place(*mine).value_or(true), false);
  EXPECT_EQ(map(a), nullptr);
  store->disk().place("table", Placed::file, std::string(kPage, 'x'));
  ASSERT_NE(map(a), nullptr);
  EXPECT_EQ(word(map(a), 0), 0x78787878U);
  store->disk().place("table", Placed::link);
  EXPECT_EQ(a.folder->map_table(0, kReserve).error().code, Code::damaged);
  EXPECT_EQ(a.folder->lock_in_place().value_or(false), true);
  store->replace_lock();
  EXPECT_EQ(a.folder->lock_in_place().value_or(true), false);
  const Member b = enter();
  EXPECT_NE(a.folder->lock_file(), b.folder->lock_file());
  const auto born = a.folder->birth();
  store->become_a_copy();
  EXPECT_NE(a.folder->birth(), born);
}

TEST_F(FakeLocalFolderTest, AfterALossOfPowerEverybodyIsOutAndOnlySyncedNamesAreThere) {
  for (const bool synced : {false, true}) {
    store = FakeLocalStore::create(world, clock);
    const Member a = enter();
    auto mine = make_table(a);
    word(mine, 0) = 5;
    if (synced) {
      ASSERT_TRUE(a.folder->directory().sync());
    }
    store->lose_power();
    EXPECT_TRUE(store->inside().empty());
    const Member b = enter();
    auto again = map(b);
    EXPECT_EQ(again != nullptr, synced);
    if (again != nullptr) {
      EXPECT_EQ(word(again, 0), 5U);
    }
  }
}

TEST_F(FakeLocalFolderTest, CallsAreCountedInOneRowAndFailAsPlanned) {
  const Member a = enter();
  auto mine = make_table(a);
  ASSERT_TRUE(a.folder->directory().sync());
  EXPECT_EQ(store->faults(a.process)->calls(),
            (std::vector<std::string>{"enter", "enter_alone", "make_table.allocate", "make_table.rename",
                                      "let_others_in", "sync"}));
  auto plan = store->faults(a.process);
  plan->at_call(1, {Fault::Kind::refuse, Code::no_space});
  EXPECT_EQ(mine->allocate(2 * kPage).error().code, Code::no_space);
  ASSERT_EQ(a.folder->take_byte(1).value_or(false), true);
  plan->at("drop_byte", 1, {Fault::Kind::refuse, Code::input_output});
  a.folder->drop_byte(1);
  EXPECT_FALSE(store->byte_held(1)) << "what cannot fail is done";
  plan->at("make_table.rename", 1, {Fault::Kind::refuse, Code::input_output});
  ASSERT_EQ(a.folder->enter_alone().value_or(false), true);
  EXPECT_FALSE(a.folder->make_table(kPage, kReserve, [](std::byte*) {}));
  EXPECT_EQ(store->disk().names(), (std::vector<std::string>{"lock", "table"}));
  plan->at("take_byte", 1, {Fault::Kind::die_after, Code::internal});
  EXPECT_FALSE(a.folder->take_byte(2));
  EXPECT_FALSE(world->running(a.process));
  EXPECT_FALSE(store->byte_held(2));
  EXPECT_TRUE(store->inside().empty());
}

TEST_F(FakeLocalFolderTest, ARoundIsNotCounted) {
  const Member a = enter();
  auto mine = make_table(a);
  const std::size_t before = store->faults(a.process)->calls().size() + 2;
  std::counting_semaphore<> rounds(0);
  std::atomic<bool> refused{false};
  store->faults(a.process)->always("lock_in_place", {Fault::Kind::refuse, Code::input_output});
  ASSERT_TRUE(a.folder->start_keeper(job(mine, [&] {
    refused = !a.folder->lock_in_place();
    rounds.release();
  })));
  ASSERT_TRUE(rounds.try_acquire_for(kPatience));
  a.folder->stop_keeper();
  EXPECT_TRUE(refused) << "what always fails fails for it too";
  EXPECT_EQ(store->faults(a.process)->calls().size(), before);
}

TEST_F(FakeLocalFolderTest, AStoppedProcessDoesNotComeBackFromItsSleep) {
  const Member a = enter();
  auto mine = make_table(a);
  world->stop(a.process);
  auto sleeper = std::async(std::launch::async, [&] {
    const std::array<env::Watched, 1> watched{env::Watched{&word(mine, 3), 0}};
    store->words(a.process)->wait(watched, seconds(100));
  });
  EXPECT_EQ(sleeper.wait_for(milliseconds(30)), std::future_status::timeout);
  world->resume(a.process);
  sleeper.get();
  EXPECT_EQ(store->wakes().waits, 1U);
  EXPECT_EQ(store->wakes().ran_out, 1U) << "it slept longer than a test can wait";
}

TEST_F(FakeLocalFolderTest, WakesAreCounted) {
  const Member a = enter();
  auto mine = make_table(a);
  store->set_longest_sleep(kPatience);
  auto sleeper = std::async(std::launch::async, [&] {
    const std::array<env::Watched, 1> watched{env::Watched{&word(mine, 3), 0}};
    store->words(a.process)->wait(watched, kPatience);
  });
  word(mine, 3) = 1;
  store->words(a.process)->wake(word(mine, 3), 1);
  sleeper.get();
  store->words(a.process)->wake(word(mine, 3), 100);
  const WakeCounts counts = store->wakes();
  EXPECT_EQ(counts.wakes, 2U);
  EXPECT_EQ(counts.directed, 1U);
  EXPECT_LE(counts.woken, 1U);
  EXPECT_EQ(counts.ran_out, 0U);
}

}  // namespace
}  // namespace tenure::fakes
