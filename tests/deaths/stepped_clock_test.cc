// Somebody sets the machine's clock while processes hold and wait: neither a wait nor a TTL moves, and what is told to
// people stays as it was written. The clock is the real one; what this program reads of it is shifted.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "deaths/lives.h"
#include "os/linux/real_clock.h"

namespace {

// Of the clock on the wall; one word for all processes of a test, those that run already as well.
std::atomic<std::int64_t>& shift_seconds() {
  static auto* const word = [] {
    void* page =
        mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? nullptr : new (page) std::atomic<std::int64_t>(0);
  }();
  if (word == nullptr) _exit(7);
  return *word;
}

}  // namespace

// In place of the C library's, for everything in this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long done = syscall(SYS_clock_gettime, clock, time);
  if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += shift_seconds().load(std::memory_order_relaxed);
  }
  return static_cast<int>(done);
}

namespace tenure::local_test {
namespace {

using std::chrono::hours;

constexpr Duration kLongTtl = seconds(60);
constexpr Duration kGenerous = seconds(30);  // for what takes an hour where the wrong clock is asked

class SteppedClock : public Lives, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    const WallTime before = clock_.wall();
    step();
    const Duration moved = clock_.wall() - before;
    ASSERT_GT(moved * GetParam(), Duration{hours(1)} - seconds(30)) << "the clock of this program cannot be set";
    shift_seconds() = 0;
  }
  void TearDown() override { shift_seconds() = 0; }

  // A wait by the wrong clock is let go of afterwards.
  static bool ends(const std::future<Result<Grant>>& waiting) {
    const bool ended = waiting.wait_for(kGenerous) == std::future_status::ready;
    if (!ended) shift_seconds() = 7'200;
    return ended;
  }
  void step() { shift_seconds() += GetParam() * std::int64_t{3'600}; }

  // A child that holds `key` with `ttl`, and at each word says whether it does still: 'y', or 'r' after it renewed.
  std::unique_ptr<Actor> holder_with_ttl(const std::string& key, Duration ttl) {
    const std::string path = folder_.path();
    auto actor = std::make_unique<Actor>([=](const Actor::Line& line) {
      const auto engine = join(path);
      auto wanted = request(key);
      wanted.terms.ttl = ttl;
      const auto granted = engine->try_claim(wanted);
      line.say(granted ? 'h' : 'x');
      if (!granted) return 5;
      const ClaimRef ref{granted->key, granted->claim, granted->epoch};
      for (char word = line.hear(); word != 0; word = line.hear()) {
        if (word == 'r') {
          line.say(engine->renew(ref) ? 'r' : 'x');
        } else {
          const auto standing = engine->verify(ref);
          const bool sound =
              standing && standing->remaining && *standing->remaining > Duration{0} && *standing->remaining <= ttl;
          line.say(sound ? 'y' : 'n');
        }
      }
      return 0;
    });
    EXPECT_EQ(actor->hear(), 'h');
    return actor;
  }
  static char ask(Actor& actor, char word) {
    actor.say(word);
    return actor.hear();
  }
  WallTime since(const std::string& key) {
    const auto seen = engine_->holder(*Key::parse(key));
    EXPECT_TRUE(seen && seen->holder) << "nobody holds " << key;
    return seen && seen->holder ? seen->holder->since : WallTime{};
  }

  const os::RealClock clock_;
};

TEST_P(SteppedClock, AWaitLastsAsLongAsItWasGiven) {
  constexpr Duration kWait = milliseconds(700);
  const auto child = holder("k", until_told);
  const auto begun = std::chrono::steady_clock::now();
  auto waiting = waits("k", "waits", kWait);
  until_in_line("k", "1");
  step();
  ASSERT_TRUE(ends(waiting));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, kWait);
  const auto ended = waiting.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::timed_out) << ended.error().message;
  // One that begins by the clock as it is now.
  const auto late = engine_->await(request("k", "test", "late"), up_to(milliseconds(50)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::timed_out) << late.error().message;
}

TEST_P(SteppedClock, ALeaseWithATtlIsHeldAndRenewedAsBefore) {
  const auto child = holder_with_ttl("k", kLongTtl);
  EXPECT_EQ(ask(*child, 'v'), 'y');
  for (int i = 0; i < 2; ++i) {
    step();
    EXPECT_EQ(ask(*child, 'v'), 'y');
    EXPECT_TRUE(is_held("k"));
    EXPECT_EQ(ask(*child, 'r'), 'r');
    EXPECT_EQ(ask(*child, 'v'), 'y');
    EXPECT_TRUE(is_held("k"));
  }
  const auto seen = engine_->holder(*Key::parse("k"));
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->claimable) << seen->why;
  if (seen->frees_in) {
    EXPECT_LE(*seen->frees_in, kLongTtl + seconds(1));
  }
}

TEST_P(SteppedClock, ATtlThatRanOutIsOver) {
  constexpr Duration kTtl = milliseconds(1'500);
  const auto begun = std::chrono::steady_clock::now();
  const auto child = holder_with_ttl("k", kTtl);
  step();
  auto next = waits("k", "next");
  ASSERT_TRUE(ends(next));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, kTtl);
  const auto granted = next.get();
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_EQ(ask(*child, 'v'), 'n');
  EXPECT_EQ(ask(*child, 'r'), 'x');
  release("k", *granted);
}

TEST_P(SteppedClock, WhatIsToldOfTheTimeOfAClaimStaysAsItWasWritten) {
  const WallTime begun = clock_.wall();
  const auto child = holder("k", until_told);
  const WallTime before = since("k");
  EXPECT_GE(before - begun, -milliseconds(100));  // it is read of a coarser clock
  EXPECT_LE(before - begun, kGenerous);
  step();
  EXPECT_EQ(since("k"), before);
  const auto later = holder("later", until_told);
  EXPECT_GT((since("later") - before) * GetParam(), Duration{hours(1)} - seconds(60));
  const auto all = engine_->list("");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2u);
  const auto events = engine_->log("");
  ASSERT_TRUE(events);
  // In the order in which it happened, whatever the clock said.
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(events->front().at, before);
  EXPECT_EQ(events->back().at, since("later"));
  child->kill(SIGKILL);
  EXPECT_TRUE(comes_free("k", kGenerous));
}

INSTANTIATE_TEST_SUITE_P(by_an_hour, SteppedClock, testing::Values(1, -1),
                         [](const auto& tested) { return tested.param > 0 ? "forward" : "back"; });

}  // namespace
}  // namespace tenure::local_test
