// Threads that share one space: each handle is of one claim, whoever calls it from wherever.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/memory/memory_engine.h"
#include "files/files_world.h"
#include "lease/over.h"
#include "tenure/space.h"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 8;
constexpr int kRounds = 20;

// All claim one key in turn, each as a part of its own, and count inside.
void take_turns(const Space& space) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<std::uint64_t> highest = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        auto lease = space.claim(*Key::parse("shared"), {.wait = std::nullopt});
        ASSERT_TRUE(lease) << lease.error().message;
        most = std::max(most.load(), ++inside);
        EXPECT_GT(lease->epoch().value(), highest.load());
        highest = lease->epoch().value();
        EXPECT_TRUE(lease->verify());
        --inside;
        EXPECT_TRUE(lease->release());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST(Threads, OfOneMemorySpaceTakeTurns) {
  FilesWorld world;
  const FilesClient client = world.client();
  take_turns(
      lease::over(open_memory(std::make_shared<MemoryStore>(), client.environment), client.environment, "memory:"));
}

TEST(Threads, OfOneFilesSpaceTakeTurns) {
  FilesWorld world;
  const FilesClient client = world.client();
  take_turns(lease::over(client.engine, client.environment, "files:/fake/space"));
}

TEST(Threads, OneHandleMayBeUsedByAll) {
  FilesWorld world;
  const FilesClient client = world.client();
  const Space space = lease::over(client.engine, client.environment, "files:/fake/space");
  auto lease = space.claim(*Key::parse("k"), {.terms = {.ttl = 1h}});
  ASSERT_TRUE(lease);
  std::atomic<int> released = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        (void)lease->verify();
        (void)lease->renew();
        (void)lease->remaining();
      }
      auto done = lease->release();
      if (done && *done) ++released;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace tenure::tests
