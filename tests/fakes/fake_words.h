// FakeWords: env::Words of one fake process: real futexes underneath, with short sleeps and with counts.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "env/words.h"
#include "fakes/fake_processes.h"

namespace tenure::fakes {

// How often somebody was woken, and how sleeps ended, in all processes of one store.
struct WakeCounts {
  std::uint64_t wakes = 0;     // calls of wake()
  std::uint64_t directed = 0;  // those that were to wake one sleeper at most
  std::uint64_t woken = 0;     // sleepers that were in fact woken
  std::uint64_t waits = 0;     // calls of wait()
  std::uint64_t ran_out = 0;   // those that ended by their bound: nobody woke them and no word had changed
};

// Thread-safe, and safe in a signal handler.
class WakeBook {
 public:
  void note_wake(bool directed, int woken) {
    wakes_ += 1;
    directed_ += directed ? 1 : 0;
    woken_ += woken > 0 ? static_cast<std::uint64_t>(woken) : 0;
  }
  void note_wait(bool ran_out) {
    waits_ += 1;
    ran_out_ += ran_out ? 1 : 0;
  }
  WakeCounts counts() const { return {wakes_, directed_, woken_, waits_, ran_out_}; }

  // No sleep lasts longer than this on the real clock, whatever was asked: the deadlines of those who sleep lie on a
  // clock that the test moves. A test that looks for lost wakes makes it long.
  Duration longest_sleep() const { return Duration{longest_sleep_}; }
  void set_longest_sleep(Duration bound) { longest_sleep_ = bound.count(); }

 private:
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<std::uint64_t> directed_{0};
  std::atomic<std::uint64_t> woken_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint64_t> ran_out_{0};
  std::atomic<Duration::rep> longest_sleep_{Duration{std::chrono::milliseconds{5}}.count()};
};

// Sleeps on the real words by the real clock. False: it ran out.
bool sleep_on(std::span<const env::Watched> words, Duration at_most);
// How many were woken.
int wake_sleepers(const env::Word& word, int at_most);

// A stopped process does not come back from wait() before it is continued or killed; a dead one comes back soon.
class FakeWords final : public env::Words {
 public:
  FakeWords(std::shared_ptr<FakeWorld> world, ProcessNumber process, std::shared_ptr<WakeBook> book)
      : world_(std::move(world)), process_(process), book_(std::move(book)) {}

  void wait(std::span<const env::Watched> words, Duration at_most) override;
  void wake(const env::Word& word, int at_most) override;

 private:
  std::shared_ptr<FakeWorld> world_;
  ProcessNumber process_;
  std::shared_ptr<WakeBook> book_;
};

}  // namespace tenure::fakes
