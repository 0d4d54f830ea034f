#include "os/linux/directory_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <thread>

#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsEmpty;

constexpr Duration kPatience = std::chrono::milliseconds{kPatienceMs};

env::Watch::Changes wait_on(env::Watch& watch, Duration at_most = kPatience) {
  auto changes = watch.wait(at_most, nullptr, -1);
  EXPECT_TRUE(changes);
  return changes ? std::move(*changes) : env::Watch::Changes{};
}

TEST(Watch, NamesWhatWasMadeReplacedWrittenAndRemoved) {
  Scratch scratch;
  const auto folder = scratch.open();
  const auto watch = folder->watch();
  ASSERT_TRUE(watch);
  EXPECT_THAT(wait_on(**watch, 0s).names, IsEmpty());
  ASSERT_TRUE(folder->replace("x", "x.tmp", "1\n", false));
  EXPECT_THAT(wait_on(**watch).names, Contains("x"));
  const FileIdentity identity = (*folder->read("x", 100))->identity;
  ASSERT_TRUE(folder->overwrite("x", identity, "2\n", false));
  EXPECT_THAT(wait_on(**watch).names, Contains("x"));
  ASSERT_TRUE(folder->remove("x"));
  EXPECT_THAT(wait_on(**watch).names, Contains("x"));
  ASSERT_TRUE(folder->lock("new.lock", 0s, nullptr));
  EXPECT_THAT(wait_on(**watch).names, Contains("new.lock"));
}

TEST(Watch, TellsOfTheDeathOfALifeLocksHolder) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child& self) {
    const auto life = folder->take_life("x.life", "x.tmp", false, false);
    if (!life) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(child.told());
  const auto watch = folder->watch();
  ASSERT_TRUE(watch);
  EXPECT_THAT(wait_on(**watch, 0s).names, IsEmpty());
  kill(child.pid(), SIGKILL);
  EXPECT_THAT(wait_on(**watch).names, Contains("x.life"));
  EXPECT_EQ(folder->probe_life("x.life", std::nullopt).sight, LifeSight::free);
}

TEST(Watch, AProbeAndAReadAreNoChange) {
  Scratch scratch;
  scratch.put("x", "1");
  const auto folder = scratch.open();
  const auto watch = folder->watch();
  ASSERT_TRUE(folder->read("x", 10));
  folder->probe_life("x", std::nullopt);
  ASSERT_TRUE(folder->list(10));
  EXPECT_THAT(wait_on(**watch, 0s).names, IsEmpty()) << "else waiters would wake each other for ever";
}

TEST(Watch, AStopOrTheOtherDescriptorEndsTheWait) {
  Scratch scratch;
  const auto folder = scratch.open();
  const auto watch = folder->watch();
  const auto stop = Stop::create();
  stop->request();
  const auto stopped = (*watch)->wait(std::chrono::hours{1}, &*stop, -1);
  ASSERT_TRUE(stopped);
  EXPECT_THAT(stopped->names, IsEmpty());
  EXPECT_FALSE(stopped->everything);
  const auto other = (*watch)->wait(std::chrono::hours{1}, nullptr, stop->descriptor());
  ASSERT_TRUE(other);
  EXPECT_THAT(other->names, IsEmpty());
  EXPECT_TRUE(stop->requested()) << "the other descriptor is not read";
}

TEST(Watch, ManyChangesAreSaidToBeEverything) {
  Scratch scratch;
  const auto folder = scratch.open();
  const auto watch = folder->watch();
  scratch.put("a", "");
  scratch.put("b", "");
  // Two names in turn, so that the kernel cannot fold the events into one; its queue holds 16,384 of them.
  for (int i = 0; i < 6000; ++i) {
    const Fd a(open(scratch.at("a").c_str(), O_WRONLY | O_CLOEXEC));
    const Fd b(open(scratch.at("b").c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(write(a.get(), "x", 1) + write(b.get(), "x", 1), 2);
  }
  EXPECT_TRUE(eventually([&] { return wait_on(**watch, 0s).everything; }));
}

TEST(Watch, AFolderThatGoesAwayIsEverythingFromThenOn) {
  Scratch scratch;
  auto folder = RealDirectory::open(scratch.at("a"), true);
  ASSERT_TRUE(folder);
  const auto watch = (*folder)->watch();
  ASSERT_EQ(rmdir(scratch.at("a").c_str()), 0);
  folder->reset();  // the last one that had it open
  EXPECT_TRUE(wait_on(**watch).everything);
  EXPECT_TRUE(eventually([&] { return wait_on(**watch, 1ms).everything; })) << "it polls now";
}

TEST(Watch, SeesTheFolderItWasMadeForThoughItWasMoved) {
  Scratch scratch;
  const auto folder = RealDirectory::open(scratch.at("a"), true);
  ASSERT_TRUE(folder);
  ASSERT_EQ(rename(scratch.at("a").c_str(), scratch.at("b").c_str()), 0);
  ASSERT_EQ(mkdir(scratch.at("a").c_str(), 0700), 0);
  const auto watch = (*folder)->watch();
  scratch.put("a/wrong", "");
  scratch.put("b/right", "");
  const auto names = wait_on(**watch).names;
  EXPECT_THAT(names, Contains("right"));
  EXPECT_THAT(names, testing::Not(Contains("wrong")));
}

TEST(Watch, L14_SignalsDoNotCutTheWaitShort) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child&) {
    const auto watch = folder->watch();
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
    const auto start = std::chrono::steady_clock::now();
    const auto changes = (*watch)->wait(50ms, nullptr, -1);
    if (!changes || !changes->names.empty()) return 1;
    return std::chrono::steady_clock::now() - start >= 50ms ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace tenure::os
