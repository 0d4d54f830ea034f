// What a holder hears of those who ask for its lease, and of a successor, over each engine that offers it.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "compose/each_engine_test.h"
#include "tenure/space.h"

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Yielding : public EachEngine {
 protected:
  static Key key() { return *Key::parse("thing"); }
  std::future<Result<Asked>> ask(const std::string& reason, Duration deadline = seconds(60)) {
    return std::async(std::launch::async, [this, reason, deadline] {
      return space_->ask(key(), {.reason = reason, .deadline = deadline});
    });
  }
  bool offers() const { return space_->traits().asks && space_->traits().handoff; }
};

TEST_P(Yielding, AHolderIsToldOnceAndAnswersWhereItIsTold) {
  auto lease = space_->claim(key());
  ASSERT_TRUE(lease) << lease.error().message;
  if (!offers()) {
    EXPECT_EQ(lease->on_ask([](const Ask&) {}).error().code, Code::unsupported);
    EXPECT_EQ(ask("please").get().error().code, Code::unsupported);
    EXPECT_EQ(lease->hand_off({.to = "b"}).error().code, Code::unsupported);
    return;
  }
  std::atomic<int> told = 0;
  const auto listening = lease->on_ask([&](const Ask& asked) {
    ++told;
    if (asked.reason == "nothing") return;
    const Answer answer = asked.reason == "yes" ? Answer::accept : Answer::decline;
    EXPECT_TRUE(lease->answer(asked.id, answer, answer == Answer::accept ? "soon" : ""));
  });
  ASSERT_TRUE(listening) << listening.error().message;
  auto quiet = ask("nothing");
  while (lease->asks()->empty()) std::this_thread::yield();
  const auto accepted = ask("yes").get();
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->became, Became::accepted);
  EXPECT_EQ(accepted->words, "soon");
  const auto declined = ask("no").get();
  ASSERT_TRUE(declined) << declined.error().message;
  EXPECT_EQ(declined->became, Became::declined);
  // Each look of the library since then saw this one.
  EXPECT_EQ(lease->asks()->size(), 1U);
  EXPECT_EQ(told, 3);
  ASSERT_TRUE(lease->release());
  const auto ended = quiet.get();
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->became, Became::ended);
  EXPECT_EQ(ended->end, EventKind::released);
  EXPECT_FALSE(lease->on_ask([](const Ask&) {})) << "of a lease that is over";
}

TEST_P(Yielding, ALateListenerIsToldOfThoseWhoWait) {
  if (!offers()) GTEST_SKIP() << "this engine offers neither requests nor successors";
  auto lease = space_->claim(key());
  ASSERT_TRUE(lease);
  auto asked = ask("before");
  while (lease->asks()->empty()) std::this_thread::yield();
  ASSERT_TRUE(lease->on_ask([&](const Ask& each) { (void)lease->answer(each.id, Answer::accept, each.reason); }));
  const auto became = asked.get();
  ASSERT_TRUE(became);
  EXPECT_EQ(became->words, "before");
}

TEST_P(Yielding, TheFormerHolderIsToldToWhomItWent) {
  if (!offers()) GTEST_SKIP() << "this engine offers neither requests nor successors";
  auto lease = space_->claim(key());
  ASSERT_TRUE(lease);
  std::promise<Loss> lost;
  lease->on_lost([&](const Loss& loss) { lost.set_value(loss); });
  EXPECT_EQ(space_->adopt(key(), {.owner = "successor"}).error().code, Code::not_offered);
  EXPECT_EQ(space_->adopt(key(), {}).error().code, Code::usage);
  ASSERT_TRUE(space_->hand_off(lease->handle(), {.to = "successor"}));  // by handle, as another process would
  EXPECT_FALSE(lease->lost());
  EXPECT_TRUE(lease->verify());
  auto adopted = space_->adopt(key(), {.owner = "successor"});
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_GT(adopted->epoch(), lease->epoch());
  EXPECT_FALSE(lease->verify());
  auto told = lost.get_future();
  ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready);
  const Loss loss = told.get();
  EXPECT_NE(loss.why.find("handed off: to successor"), std::string::npos) << loss.why;
  ASSERT_TRUE(loss.successor);
  EXPECT_EQ(loss.successor->epoch, adopted->epoch());
  EXPECT_TRUE(adopted->verify());
  EXPECT_EQ(lease->release().error().code, Code::lost);
  ASSERT_TRUE(adopted->release());
  EXPECT_EQ(space_->holder(key())->state, State::free);
}

TEST_P(Yielding, AnOfferThatGoesToTheLineIsALossWhenItsTimeIsOver) {
  if (!offers()) GTEST_SKIP() << "this engine offers neither requests nor successors";
  auto lease = space_->claim(key());
  ASSERT_TRUE(lease);
  std::promise<Loss> lost;
  lease->on_lost([&](const Loss& loss) { lost.set_value(loss); });
  ASSERT_TRUE(lease->hand_off({.to = "successor", .within = milliseconds(50), .back = Back::line}));
  auto told = lost.get_future();
  ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready);
  EXPECT_NE(told.get().why.find("successor"), std::string::npos);
  EXPECT_FALSE(lease->verify());
  auto next = space_->claim(key());
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->epoch(), lease->epoch());
}

INSTANTIATE_TEST_SUITE_P(Engines, Yielding, each_engine(), name_of_engine);

}  // namespace
}  // namespace tenure
