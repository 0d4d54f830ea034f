// How often the keeper looks: seldom while there is nothing to lose, and often from the first lease on.
#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <thread>

#include "deaths/lives.h"
#include "engine/local/fault_point.h"

namespace tenure::local_test {
namespace {

using FirstLease = Lives;

Engine* engine_of_other_thread = nullptr;
std::optional<Result<Grant>> granted_meanwhile;

// Between the look of one thread, whether there is anything to lose, and what it does about it, another is granted its
// first lease: the keeper must not sleep as long as that of who only waits.
TEST_F(FirstLease, BesideAFirstWaitIsWatchedOver) {
  auto& core = local::core_of(*engine_);
  const auto child = holder("k", until_told);
  ASSERT_FALSE(core.granted);
  granted_meanwhile.reset();
  engine_of_other_thread = engine_.get();
  local::fault_hook = [](const char* point) {
    if (granted_meanwhile || std::string_view(point) != "nothing to lose yet") return;
    std::thread([] { granted_meanwhile = engine_of_other_thread->try_claim(request("other", "test", "part")); }).join();
  };
  auto waited = engine_->await(request("k", "test", "waits"), up_to(milliseconds(1)));
  local::fault_hook = nullptr;
  EXPECT_FALSE(waited);
  ASSERT_TRUE(granted_meanwhile) << "nobody passed by there";
  ASSERT_TRUE(*granted_meanwhile);
  EXPECT_EQ(core.pause, local::kRound.count());
  EXPECT_TRUE(engine_->verify({(*granted_meanwhile)->key, (*granted_meanwhile)->claim, (*granted_meanwhile)->epoch}));
}

// And who only waits has a keeper that sleeps long, until then.
TEST_F(FirstLease, AfterAFirstWaitWakesTheKeeper) {
  auto& core = local::core_of(*engine_);
  const auto child = holder("k", until_told);
  EXPECT_FALSE(engine_->await(request("k", "test", "waits"), up_to(milliseconds(1))));
  EXPECT_EQ(core.pause, local::kIdleRound.count());
  const auto inbox = core.table.row(core.me.number).inbox.load();
  EXPECT_TRUE(engine_->try_claim(request("other", "test", "part")));
  EXPECT_EQ(core.pause, local::kRound.count());
  EXPECT_NE(core.table.row(core.me.number).inbox.load(), inbox) << "the keeper was not woken";
}

}  // namespace
}  // namespace tenure::local_test
