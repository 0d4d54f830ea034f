// Many at once: one winner.
#include <atomic>
#include <barrier>
#include <thread>

#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

constexpr int kCrowd = 64;

TEST_P(Conformance, SixtyFourClaimantsOneWinner) {
  constexpr int kRounds = 8;
  std::vector<Client> clients;
  for (int i = 0; i < kCrowd; ++i) clients.push_back(fixture->add_client());
  Epoch highest;
  for (int round = 0; round < kRounds; ++round) {
    std::barrier together(kCrowd);
    std::vector<std::thread> threads;
    std::vector<std::optional<Result<Grant>>> results(kCrowd);
    for (int i = 0; i < kCrowd; ++i) {
      threads.emplace_back([&, i] {
        const auto at = static_cast<std::size_t>(i);
        auto engine = fixture->engine(clients[at]);
        const ClaimRequest wanted = request(key("thing"), "same owner", "same part");
        together.arrive_and_wait();
        results[at] = engine->try_claim(wanted);
      });
    }
    for (std::thread& thread : threads) thread.join();
    int winner = -1;
    for (int i = 0; i < kCrowd; ++i) {
      const auto& result = *results[static_cast<std::size_t>(i)];
      if (!result) {
        EXPECT_EQ(result.error().code, Code::held) << result.error().message;
        continue;
      }
      EXPECT_EQ(winner, -1) << "two winners in round " << round;
      winner = i;
      EXPECT_GT(result->epoch, highest);
      highest = result->epoch;
    }
    ASSERT_NE(winner, -1) << "nobody won round " << round;
    const auto at = static_cast<std::size_t>(winner);
    // Every other round the winner dies in place of giving back.
    if (round % 2 == 0) {
      release(clients[at], **results[at]);
    } else {
      fixture->world().kill(clients[at]);
      clients[at] = fixture->add_client();
    }
  }
}

TEST_P(Conformance, ACrowdInLineIsServedOneAtATime) {
  constexpr int kEach = 3;
  constexpr int kThreads = 8;
  std::atomic<int> inside{0};
  std::atomic<int> served{0};
  std::mutex mutex;
  std::vector<Epoch> epochs;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, engine = fixture->engine(fixture->add_client())] {
      for (int turn = 0; turn < kEach; ++turn) {
        auto granted = engine->await(request(key("thing")), Wait{});
        if (!granted) return;
        EXPECT_EQ(inside.fetch_add(1), 0) << "two hold it at once";
        {
          std::lock_guard lock(mutex);
          epochs.push_back(granted->epoch);
        }
        inside.fetch_sub(1);
        auto released = engine->release(ref(*granted));
        if (released && released->released) served.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served.load(), kThreads * kEach);
  for (std::size_t i = 1; i < epochs.size(); ++i) EXPECT_GT(epochs[i], epochs[i - 1]);
}

}  // namespace
}  // namespace tenure::conformance
