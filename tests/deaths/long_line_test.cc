// A line that is longer than what one look at it takes in.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>
#include <vector>

#include "deaths/lives.h"

namespace tenure::local_test {
namespace {

using LongLine = Lives;

constexpr int kWaiters = static_cast<int>(local::kShownLine) + 4;

TEST_F(LongLine, AGranteeFarBackThatIsStoppedOrDeadIsPassedOver) {
  auto held = engine_->try_claim(request("k", "test", "holder"));
  ASSERT_TRUE(held);
  const std::string path = folder_.path();
  Actor crowd([=](const Actor::Line&) {
    const auto engine = join(path);
    std::vector<std::thread> waiters;
    for (int i = 0; i < kWaiters; ++i) {
      waiters.emplace_back(
          [&, i] { (void)engine->await(request("k", "crowd", std::to_string(i)), up_to(seconds(60))); });
    }
    for (std::thread& waiter : waiters) waiter.join();
    return 0;
  });
  until_in_line("k", std::to_string(kWaiters));
  crowd.kill(SIGSTOP);
  ASSERT_TRUE(crowd.wait_until_stopped());
  release("k", *held);
  // It is offered to one after the other.
  auto stopped = engine_->try_claim(request("k", "test", "beside the stopped"));
  ASSERT_TRUE(stopped) << stopped.error().message;
  crowd.kill(SIGKILL);
  (void)crowd.wait();
  release("k", *stopped);
  EXPECT_TRUE(comes_free("k", seconds(20)));
  const auto seen = engine_->holder(*Key::parse("k"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, State::free) << seen->why;
  for (const std::string& fault : local::faults_in(local::core_of(*engine_))) ADD_FAILURE() << fault;
}

}  // namespace
}  // namespace tenure::local_test
