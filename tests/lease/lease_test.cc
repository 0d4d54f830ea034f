// What a holder may rely on: the loss is pushed, once, with its reason; a handle ends with its process.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "files/files_world.h"
#include "lease/over.h"
#include "tenure/space.h"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;

struct Opened {
  FilesClient client;
  Space space;
};

Opened open(FilesWorld& world) {
  FilesClient client = world.client();
  Space space = lease::over(client.engine, client.environment, "files:/fake/space");
  return {std::move(client), std::move(space)};
}

// The descriptor becomes readable: the holder was told.
bool told(const Lease& lease) {
  pollfd polled{lease.lost_fd(), POLLIN, 0};
  return ::poll(&polled, 1, 30'000) == 1;
}

TEST(Lease, ALossIsPushedOnceWithItsReason) {
  FilesWorld world;
  Opened holder = open(world);
  Opened operator_ = open(world);
  std::atomic<int> calls = 0;
  std::promise<void> called;
  auto lease = holder.space.claim(key("k"));
  ASSERT_TRUE(lease) << lease.error().message;
  lease->on_lost([&](const Loss&) {
    if (++calls == 1) called.set_value();
  });
  EXPECT_FALSE(lease->lost());
  auto revoked = operator_.space.revoke(key("k"), {.reason = "maintenance", .force = true});
  ASSERT_TRUE(revoked) << revoked.error().message;
  ASSERT_TRUE(told(*lease)) << "nobody told the holder";
  EXPECT_TRUE(lease->lost());
  ASSERT_TRUE(lease->loss());
  EXPECT_NE(lease->loss()->why.find("maintenance"), std::string::npos) << lease->loss()->why;
  EXPECT_EQ(lease->verify().error().code, Code::lost);
  EXPECT_EQ(lease->release().error().code, Code::lost);
  ASSERT_EQ(called.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_EQ(calls, 1);
}

TEST(Lease, ALaterListenerIsToldAtOnce) {
  FilesWorld world;
  Opened holder = open(world);
  auto lease = holder.space.claim(key("k"));
  ASSERT_TRUE(lease);
  ASSERT_TRUE(open(world).space.revoke(key("k"), {.reason = "maintenance", .force = true}));
  ASSERT_TRUE(told(*lease));
  int calls = 0;
  lease->on_lost([&](const Loss& loss) { calls += loss.why.empty() ? 0 : 1; });
  EXPECT_EQ(calls, 1);
}

TEST(Lease, TheFirstReasonStays) {
  FilesWorld world;
  Opened holder = open(world);
  auto lease = holder.space.claim(key("k"));
  ASSERT_TRUE(lease);
  Opened other = open(world);
  ASSERT_TRUE(other.space.revoke(key("k"), {.reason = "the first", .force = true}));
  ASSERT_TRUE(told(*lease));
  auto successor = other.space.claim(key("k"));
  ASSERT_TRUE(successor);
  ASSERT_FALSE(lease->verify());
  EXPECT_NE(lease->loss()->why.find("the first"), std::string::npos);
}

TEST(Lease, DroppingTheHandleGivesBackAndDroppingALostOneFreesNobodyElses) {
  FilesWorld world;
  Opened holder = open(world);
  Opened other = open(world);
  {
    auto lease = holder.space.claim(key("k"));
  }
  EXPECT_EQ(holder.space.holder(key("k"))->state, State::free);
  std::optional<Lease> successor;
  {
    auto lease = holder.space.claim(key("k"));
    ASSERT_TRUE(lease);
    ASSERT_TRUE(other.space.revoke(key("k"), {.reason = "needed", .force = true}));
    auto claimed = other.space.claim(key("k"));
    ASSERT_TRUE(claimed);
    successor = std::move(*claimed);
  }
  EXPECT_TRUE(successor->verify());
}

TEST(Lease, ADeletedRecordIsWrittenAgainByTheKeeper) {
  FilesWorld world;
  Opened holder = open(world);
  auto lease = holder.space.claim(key("k"));
  ASSERT_TRUE(lease);
  auto watch = holder.client.engine->changes();
  ASSERT_TRUE(watch);
  world.disk->erase("k.lease.json");
  for (int round = 0; round < 1000 && !world.disk->bytes("k.lease.json"); ++round) {
    (void)(*watch)->wait(1ms, nullptr);
    world.clock->advance(10ms);
  }
  EXPECT_TRUE(world.disk->bytes("k.lease.json"));
  EXPECT_FALSE(lease->lost());
  EXPECT_TRUE(lease->verify());
}

TEST(Lease, AFolderThatWasMovedIsALossAndAPassingAbsenceIsNone) {
  FilesWorld world;
  Opened holder = open(world);
  auto lease = holder.space.claim(key("k"));
  ASSERT_TRUE(lease);
  world.disk->move_folder();
  EXPECT_EQ(lease->verify().error().code, Code::unreachable);
  EXPECT_FALSE(lease->lost());
  world.clock->advance(3s);
  EXPECT_EQ(lease->verify().error().code, Code::lost);
  EXPECT_TRUE(lease->lost());
}

TEST(Lease, ItsHandleSpeaksForItAndNoCopyOutlivesTheRelease) {
  FilesWorld world;
  Opened holder = open(world);
  Opened other = open(world);
  auto lease = holder.space.claim(key("k"), {.terms = {.ttl = 10s}});
  ASSERT_TRUE(lease);
  const auto handle = Handle::parse(lease->handle().text());
  ASSERT_TRUE(handle);
  EXPECT_TRUE(other.space.verify(*handle));
  world.clock->advance(9s);
  EXPECT_EQ(lease->remaining(), 1s);
  EXPECT_TRUE(other.space.renew(*handle));
  EXPECT_TRUE(*other.space.release(*handle));
  ASSERT_TRUE(told(*lease));
  EXPECT_EQ(other.space.verify(*handle).error().code, Code::lost);
}

TEST(Lease, AForkedChildHasNoPartInIt) {
  FilesWorld world;
  Opened holder = open(world);
  auto lease = holder.space.claim(key("k"));
  ASSERT_TRUE(lease);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool refused =
        lease->verify().error().code == Code::wrong_process && lease->release().error().code == Code::wrong_process;
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(lease->verify());
}

}  // namespace
}  // namespace tenure::tests
