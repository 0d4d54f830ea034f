// Several keys at once, over each engine that a program can open by itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "compose/each_engine_test.h"
#include "tenure/space.h"

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Key key(const std::string& text) {
  return *Key::parse(text);
}

class ClaimAll : public EachEngine {
 protected:
  Result<std::vector<Lease>> all(const std::vector<std::string>& names, ClaimOptions options = {}) {
    std::vector<Key> keys;
    for (const std::string& name : names) keys.push_back(key(name));
    return space_->claim_all(keys, options);
  }
  bool free(const std::string& name) { return space_->holder(key(name))->state == State::free; }
};

TEST_P(ClaimAll, GivesLeasesInTheOrderAskedFor) {
  const auto leases = all({"b", "c", "a"});
  ASSERT_TRUE(leases) << leases.error().message;
  ASSERT_EQ(leases->size(), 3U);
  EXPECT_EQ((*leases)[0].key().text(), "b");
  EXPECT_EQ((*leases)[1].key().text(), "c");
  EXPECT_EQ((*leases)[2].key().text(), "a");
  EXPECT_FALSE(free("a") || free("b") || free("c"));
}

TEST_P(ClaimAll, GivesNoneWhenOneIsHeld) {
  const auto held = space_->claim(key("b"));
  ASSERT_TRUE(held);
  const auto refused = all({"c", "a", "b"});
  ASSERT_FALSE(refused);
  const Code code = refused.error().code;
  EXPECT_TRUE(code == Code::held || code == Code::held_by_part) << facts(code).name;
  EXPECT_TRUE(free("a") && free("c"));
}

TEST_P(ClaimAll, BoundsTheWholeWait) {
  const auto held = space_->claim(key("b"));
  ASSERT_TRUE(held);
  const auto refused = all({"b", "a"}, {.wait = milliseconds(20)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::timed_out);
  EXPECT_TRUE(free("a"));
}

TEST_P(ClaimAll, RefusesNoneTwiceAndTooMany) {
  EXPECT_EQ(all({}).error().code, Code::usage);
  const auto twice = all({"a", "b", "a"});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::usage);
  EXPECT_NE(twice.error().message.find("a is named twice"), std::string::npos);
  std::vector<std::string> many;
  for (int i = 0; i < 65; ++i) many.push_back(std::to_string(i));
  EXPECT_EQ(all(many).error().code, Code::usage);
  EXPECT_TRUE(free("a"));
}

// Each wants the same three in an order of its own, over and over: nobody waits in a circle, and nobody is inside with
// another.
TEST_P(ClaimAll, EndsInAnyOrderAndExcludes) {
  const std::array<std::vector<std::string>, 3> orders = {{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a"}}};
  std::atomic<int> inside_a{0};
  std::atomic<int> overlaps{0};
  std::vector<std::future<int>> done;
  for (const auto& order : orders) {
    done.push_back(std::async(std::launch::async, [&, order] {
      int granted = 0;
      for (int round = 0; round < 10; ++round) {
        const auto leases = all(order, {.wait = seconds(60)});
        if (!leases) continue;
        if (inside_a.fetch_add(1) != 0) overlaps.fetch_add(1);
        std::this_thread::yield();
        inside_a.fetch_sub(1);
        ++granted;
      }
      return granted;
    }));
  }
  for (auto& each : done) EXPECT_EQ(each.get(), 10);
  EXPECT_EQ(overlaps.load(), 0);
}

TEST_P(ClaimAll, TellsOfALossDuringTheWait) {
  auto held = space_->claim(key("b"));
  ASSERT_TRUE(held);
  std::promise<void> waits;
  bool told = false;
  ClaimOptions options{.wait = seconds(60)};
  options.on_wait = [&](const Observation&) {
    if (!std::exchange(told, true)) waits.set_value();
  };
  auto outcome = std::async(std::launch::async, [&] { return all({"a", "b"}, options); });
  ASSERT_EQ(waits.get_future().wait_for(seconds(30)), std::future_status::ready);
  ASSERT_TRUE(space_->revoke(key("a"), {.reason = "needed", .force = true}));
  ASSERT_TRUE(held->release());
  const auto refused = outcome.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::lost);
  EXPECT_TRUE(free("b"));
}

INSTANTIATE_TEST_SUITE_P(Engines, ClaimAll, each_engine(), name_of_engine);

}  // namespace
}  // namespace tenure
