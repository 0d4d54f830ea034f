// What the holder of a handle may rely on of work under guard: errors and exceptions pass, and the handle knows.
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "files/files_world.h"
#include "lease/over.h"
#include "tenure/space.h"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;

// Looks again and again, in short waits.
template <class Predicate>
bool eventually(Predicate predicate) {
  std::promise<void> never;
  auto nothing = never.get_future();
  for (int round = 0; round < 15'000; ++round) {
    if (predicate()) return true;
    nothing.wait_for(2ms);
  }
  return false;
}

class LeaseGuard : public testing::Test {
 protected:
  LeaseGuard() {
    auto claimed = space.claim(key("k"));
    EXPECT_TRUE(claimed);
    lease.emplace(std::move(*claimed));
  }
  static Space over(const FilesClient& client) {
    return lease::over(client.engine, client.environment, "files:/fake/space");
  }
  // Nothing runs under guard any more, and the lease stood until now.
  bool revocable() { return other.revoke(key("k"), {.reason = "a test", .force = true}).has_value(); }

  FilesWorld world;
  FilesClient client = world.client();
  Space space = over(client);
  FilesClient neighbour = world.client();
  Space other = over(neighbour);
  std::optional<Lease> lease;
};

TEST_F(LeaseGuard, AnExceptionPassesAfterTheGuardWasDropped) {
  const auto throws = []() -> Result<void> { throw std::runtime_error("out of paint"); };
  EXPECT_THROW((void)lease->guard(1min, throws), std::runtime_error);
  EXPECT_THROW((void)space.guard(key("k"), lease->epoch(), 1min, throws), std::runtime_error);
  EXPECT_FALSE(lease->lost());
  EXPECT_TRUE(lease->verify());
  EXPECT_TRUE(lease->guard(1min, [] {})) << "the mark stayed on the thread";
  EXPECT_TRUE(revocable());
}

TEST_F(LeaseGuard, AnExceptionPastTheBoundPassesAndTheHandleIsLost) {
  const auto throws = [&]() -> Result<void> {
    EXPECT_TRUE(eventually([&] { return !lease->verify(); }));
    throw std::runtime_error("out of paint");
  };
  EXPECT_THROW((void)lease->guard(20ms, throws), std::runtime_error);
  EXPECT_TRUE(lease->lost());
}

TEST_F(LeaseGuard, PastTheBoundTheHandleIsLostWhileTheOperationRuns) {
  bool knew = false;
  const auto done = lease->guard(20ms, [&]() -> Result<void> {
    EXPECT_TRUE(eventually([&] { return !lease->verify(); }));
    knew = lease->lost();
    return {};
  });
  EXPECT_TRUE(knew);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unknown_outcome);
  EXPECT_NE(done.error().message.find("succeeded"), std::string::npos) << done.error().message;
  EXPECT_TRUE(lease->lost());
  EXPECT_EQ(lease->guard(1min, [] {}).error().code, Code::lost);
}

TEST_F(LeaseGuard, AnErrorOfTheOperationIsNoLossOfTheLease) {
  for (const Code code : {Code::lost, Code::unknown_outcome, Code::no_space}) {
    const auto done = lease->guard(1min, [&]() -> Result<void> { return fail(code, "of something else"); });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, code);
    EXPECT_EQ(done.error().message, "of something else");
    EXPECT_FALSE(lease->lost());
  }
  EXPECT_TRUE(lease->verify());
}

TEST_F(LeaseGuard, AReleaseWithinTheOperationIsRefusedAndTheLeaseStays) {
  Result<bool> released;
  EXPECT_TRUE(lease->guard(1min, [&] { released = lease->release(); }));
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, Code::would_deadlock);
  EXPECT_FALSE(lease->lost());
  EXPECT_TRUE(lease->verify());
  // Its keeper still has it.
  auto watch = client.engine->changes();
  ASSERT_TRUE(watch);
  world.disk->erase("k.lease.json");
  for (int round = 0; round < 1'000 && !world.disk->bytes("k.lease.json"); ++round) {
    (void)(*watch)->wait(1ms, nullptr);
    world.clock->advance(10ms);
  }
  EXPECT_TRUE(world.disk->bytes("k.lease.json")) << "nobody beats for it";
  EXPECT_TRUE(lease->release().value_or(false));
  EXPECT_EQ(other.holder(key("k"))->state, State::free);
}

TEST_F(LeaseGuard, WhoKnowsTheEpochAloneGuardsToo) {
  int runs = 0;
  const auto count = [&]() -> Result<void> {
    ++runs;
    return {};
  };
  EXPECT_TRUE(other.guard(key("k"), lease->epoch(), 1min, count));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(other.guard(key("k"), Epoch(lease->epoch().value() + 1), 1min, count).error().code, Code::lost);
  EXPECT_EQ(other.guard(key("nobody's"), Epoch(1), 1min, count).error().code, Code::lost);
  EXPECT_EQ(runs, 1);
}

TEST_F(LeaseGuard, TheHolderIsSilentForNobodyWhileItsGuardHasTheSection) {
  const auto stamp = [&] { return world.disk->bytes("k.lease.json"); };
  const auto before = stamp();
  bool signed_meanwhile = false;
  EXPECT_TRUE(lease->guard(1min, [&] {
    world.clock->advance(1s);
    signed_meanwhile = eventually([&] { return stamp() != before; });
  }));
  EXPECT_TRUE(signed_meanwhile) << "nobody gave a sign of life under guard";
}

}  // namespace
}  // namespace tenure::tests
