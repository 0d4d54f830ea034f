// Waiting: what wakes a waiter, when it gives up, and that many short tries come to the same end as one long wait.
#include <gtest/gtest.h>

#include <future>

#include "files/files_world.h"
#include "model/side_files.h"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using fakes::Birth;

constexpr auto kPatience = 60s;  // real time, which only a fault takes
const Birth kFar{.machine = "machine-b", .host = "host-b"};

// A waiter on a thread of its own, which tells when it has begun to wait.
class Waiting {
 public:
  Waiting(FilesWorld& world, std::optional<Duration> at_most = std::nullopt, const Birth& birth = {})
      : Waiting(world.client(birth), at_most) {}
  Waiting(FilesClient client, std::optional<Duration> at_most) : client_(std::move(client)) {
    result_ = std::async(std::launch::async, [this, at_most] {
      Wait wait{.at_most = at_most, .stop = &stop_, .on_wait = [this](const Observation& seen) {
                  std::lock_guard lock(mutex_);
                  told_.push_back(seen);
                  changed_.notify_all();
                }};
      return client_.engine->await(request("k", "waiter"), wait);
    });
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [this] { return !told_.empty(); })) << "never began to wait";
  }
  ~Waiting() {
    stop_.request();
    if (result_.valid()) result_.wait();
  }

  bool over(std::chrono::milliseconds within = 0ms) { return result_.wait_for(within) == std::future_status::ready; }
  Result<Grant> result() {
    if (result_.wait_for(kPatience) != std::future_status::ready) {
      stop_.request();
      ADD_FAILURE() << "it sleeps on";
    }
    return result_.get();
  }
  void stop() { stop_.request(); }
  std::vector<Observation> told() {
    std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  FilesClient client_;
  Stop stop_ = Stop::create().value();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Observation> told_;
  std::future<Result<Grant>> result_;
};

Grant hold(FilesClient& client, std::optional<Duration> ttl = std::nullopt) {
  ClaimRequest wanted = request("k", "holder");
  wanted.terms.ttl = ttl;
  auto grant = client.engine->try_claim(wanted);
  EXPECT_TRUE(grant) << grant.error().message;
  return *grant;
}

// In none of these does the fake clock move: so it was the event that woke, and no look at the end of a nap.
TEST(FilesWaiting, L10_WakesByRelease) {
  FilesWorld world;
  auto holder = world.client();
  const Grant grant = hold(holder);
  Waiting waiting(world);
  EXPECT_EQ(waiting.told().front().holder->owner, "holder");
  ASSERT_TRUE(holder.engine->release(ref(grant)));
  auto got = waiting.result();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_GT(got->epoch, grant.epoch);
}

TEST(FilesWaiting, WakesByDeathThoughItCannotSeeTheHoldersProcess) {
  FilesWorld world;
  auto holder = world.client({.pid_namespace = 4'026'532'000});
  const Grant grant = hold(holder);
  Waiting waiting(world);
  world.world->kill(holder.number);
  auto got = waiting.result();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_GT(got->epoch, grant.epoch);
  EXPECT_EQ(got->displaced->verdict.liveness, Liveness::dead);
}

TEST(FilesWaiting, WakesWhenTheChildThatWasGivenTheLockIsGoneToo) {
  FilesWorld world;
  auto holder = world.client();
  auto child = world.client();
  hold(holder);
  world.disk->share_life("k.life", holder.number, child.number);
  Waiting waiting(world);
  world.world->kill(holder.number);
  EXPECT_FALSE(waiting.over(50ms)) << "granted while a child works on";
  world.world->kill(child.number);
  EXPECT_TRUE(waiting.result());
}

TEST(FilesWaiting, WakesByRevocation) {
  FilesWorld world;
  auto holder = world.client();
  auto chief = world.client();
  hold(holder);
  Waiting waiting(world);
  ASSERT_TRUE(chief.engine->revoke({key("k"), "needed elsewhere", true, std::nullopt}));
  EXPECT_TRUE(waiting.result());
}

TEST(FilesWaiting, WakesByTtlAndNotBefore) {
  FilesWorld world;
  auto holder = world.client();
  hold(holder, 10s);
  Waiting waiting(world);
  world.clock->advance(10s);
  EXPECT_FALSE(waiting.over(50ms)) << "granted at the TTL, which is not past it";
  world.clock->advance(5ms);
  auto got = waiting.result();
  ASSERT_TRUE(got) << got.error().message;
}

TEST(FilesWaiting, ARenewalMeanwhileIsRespected) {
  FilesWorld world;
  auto holder = world.client();
  const Grant grant = hold(holder, 10s);
  Waiting waiting(world);
  for (int round = 0; round < 5; ++round) {
    world.clock->advance(9s);
    ASSERT_TRUE(holder.engine->renew(ref(grant)));
    EXPECT_FALSE(waiting.over(10ms));
  }
  EXPECT_TRUE(holder.engine->verify(ref(grant)));
}

TEST(FilesWaiting, WhereNoWatchCanBeHadItPolls) {
  FilesWorld world;
  world.disk->refuse_watches(true);
  auto holder = world.client();
  const Grant grant = hold(holder);
  Waiting waiting(world);
  ASSERT_TRUE(holder.engine->release(ref(grant)));
  EXPECT_TRUE(waiting.result());
}

TEST(FilesWaiting, WhereEventsWereDroppedItLooks) {
  FilesWorld world;
  auto holder = world.client();
  hold(holder);
  Waiting waiting(world);
  world.disk->overflow_watches();
  EXPECT_FALSE(waiting.over(20ms));
  world.world->kill(holder.number);
  world.disk->overflow_watches();
  EXPECT_TRUE(waiting.result());
}

TEST(FilesWaiting, AStopEndsItAndLeavesNothingBehind) {
  FilesWorld world;
  auto holder = world.client();
  const Grant grant = hold(holder);
  const auto names = world.disk->names();
  Waiting waiting(world);
  waiting.stop();
  auto ended = waiting.result();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::cancelled);
  EXPECT_EQ(world.disk->names(), names);
  EXPECT_TRUE(holder.engine->verify(ref(grant)));
}

TEST(FilesWaiting, TheDeadlineIsExactByTheClock) {
  FilesWorld world;
  auto holder = world.client();
  hold(holder);
  Waiting waiting(world, 7s);
  world.clock->advance(7s - 1ms);
  EXPECT_FALSE(waiting.over(50ms)) << "gave up early";
  world.clock->advance(1ms);
  auto ended = waiting.result();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::timed_out);
  ASSERT_TRUE(ended.error().holder);
  EXPECT_EQ(ended.error().holder->holder->owner, "holder");
}

TEST(FilesWaiting, L13_AStepOfTheWallClockMovesNoDeadline) {
  FilesWorld world;
  auto holder = world.client();
  hold(holder);
  Waiting waiting(world, 7s);
  world.clock->step_wall(24h);
  world.clock->step_wall(-48h);
  EXPECT_FALSE(waiting.over(50ms));
  world.clock->advance(7s);
  EXPECT_EQ(waiting.result().error().code, Code::timed_out);
}

TEST(FilesWaiting, AWaitOfZeroIsOneTry) {
  FilesWorld world;
  auto holder = world.client();
  auto other = world.client();
  hold(holder);
  EXPECT_EQ(other.engine->await(request("k", "other"), {Duration{0}, nullptr, {}}).error().code, Code::timed_out);
}

// ---- holders that can be judged only by watching --------------------------------------------------------------------

TEST(FilesWatchedHolder, ManyShortTriesOfDifferentProcessesComeToAnEnd) {
  FilesWorld world;
  auto far = world.client(kFar);
  const Grant grant = hold(far);
  world.world->kill(far.number);
  Duration waited{0};
  for (; waited < 1min; waited += 1s) {
    auto process = world.client();  // each a new one that remembers nothing
    auto got = process.engine->try_claim(request("k", "short"));
    if (got) {
      EXPECT_GT(got->epoch, grant.epoch);
      break;
    }
    EXPECT_EQ(got.error().code, Code::held);
    world.world->kill(process.number);
    world.clock->advance(1s);
  }
  EXPECT_GT(waited, 15s) << "not watched for its TTL";
  EXPECT_LE(waited, 17s) << "the first sight was not kept";
}

TEST(FilesWatchedHolder, OneThatKeepsRenewingIsNeverDisplaced) {
  FilesWorld world;
  auto far = world.client(kFar);
  const Grant grant = hold(far);
  for (int second = 0; second < 600; ++second) {
    auto process = world.client();
    EXPECT_EQ(process.engine->try_claim(request("k", "short")).error().code, Code::held) << second;
    world.world->kill(process.number);
    world.clock->advance(1s);
    if (second % 5 == 4) {
      ASSERT_TRUE(far.engine->beat(ref(grant)));
    }
  }
  EXPECT_TRUE(far.engine->verify(ref(grant)));
}

TEST(FilesWatchedHolder, OneThatBeatsButDoesNotRenewLosesAtItsOwnTtl) {
  FilesWorld world;
  auto far = world.client(kFar);
  const Grant limited = hold(far, 10min);
  Duration waited{0};
  for (; waited < 20min; waited += 5s) {
    auto process = world.client();
    auto got = process.engine->try_claim(request("k", "short"));
    world.world->kill(process.number);
    if (got) break;
    world.clock->advance(5s);
    ASSERT_TRUE(far.engine->beat(ref(limited)));
  }
  EXPECT_GT(waited, 10min);
  EXPECT_LE(waited, 10min + 10s) << "its signs of life pushed the first sight of its limit out";
}

TEST(FilesWatchedHolder, SightingsAreBounded) {
  FilesWorld world;
  auto far = world.client(kFar);
  const Grant grant = hold(far);
  for (int round = 0; round < 200; ++round) {
    auto process = world.client({.machine = "machine-" + std::to_string(round % 40), .host = "host-c"});
    EXPECT_FALSE(process.engine->try_claim(request("k", "short")));
    world.clock->advance(5s);
    ASSERT_TRUE(far.engine->beat(ref(grant)));
  }
  auto kept = decode_sightings(world.disk->bytes("k.seen").value());
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_LE(kept->size(), kMaxSightings);
}

TEST(FilesWatchedHolder, OneLongWaitComesToAnEndToo) {
  FilesWorld world;
  auto far = world.client(kFar);
  hold(far);
  world.world->kill(far.number);
  Waiting waiting(world);
  world.clock->advance(15s);
  EXPECT_FALSE(waiting.over(50ms));
  world.clock->advance(10ms);
  EXPECT_TRUE(waiting.result());
}

TEST(FilesWatchedHolder, ASightOfAnotherBootCountsForNothing) {
  FilesWorld world;
  auto far = world.client(kFar);
  hold(far);
  world.world->kill(far.number);
  EXPECT_FALSE(world.client().engine->try_claim(request("k", "short")));
  world.world->reboot("machine-a");
  world.clock->advance(1h);
  EXPECT_FALSE(world.client().engine->try_claim(request("k", "short"))) << "a stamp of another boot's clock";
  world.clock->advance(16s);
  EXPECT_TRUE(world.client().engine->try_claim(request("k", "short")));
}

}  // namespace
}  // namespace tenure::tests
