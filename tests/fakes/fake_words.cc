#include "fakes/fake_words.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tenure::fakes {

namespace {

// Where several words cannot be slept on at once, the first is, and the others are looked at this often.
constexpr Duration kOneWordStep = std::chrono::milliseconds{1};
constexpr std::size_t kMostWords = 64;
constexpr int kSliceMs = 1;

timespec spec_of(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {.tv_sec = seconds.count(), .tv_nsec = (duration - seconds).count()};
}

bool changed(std::span<const env::Watched> words) {
  return std::any_of(words.begin(), words.end(), [](const env::Watched& watched) {
    return watched.word->load(std::memory_order_acquire) != watched.expected;
  });
}

const std::uint32_t* address_of(const env::Word& word) {
  return reinterpret_cast<const std::uint32_t*>(&word);
}

bool sleep_on_one(const env::Watched& first, Duration at_most) {
  const timespec bound = spec_of(at_most);
  const long done =
      ::syscall(SYS_futex, address_of(*first.word), FUTEX_WAIT, first.expected, &bound, nullptr, std::uint32_t{0});
  return done == 0 || errno != ETIMEDOUT;
}

}  // namespace

bool sleep_on(std::span<const env::Watched> words, Duration at_most) {
  if (words.empty() || words.size() > kMostWords || at_most <= Duration{0}) return false;
  std::array<futex_waitv, kMostWords> several{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    several[i].val = words[i].expected;
    several[i].uaddr = reinterpret_cast<std::uintptr_t>(address_of(*words[i].word));
    several[i].flags = FUTEX_32;
  }
  timespec until{};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  const timespec bound = spec_of(at_most);
  until.tv_sec += bound.tv_sec + (until.tv_nsec + bound.tv_nsec) / 1'000'000'000;
  until.tv_nsec = (until.tv_nsec + bound.tv_nsec) % 1'000'000'000;
  const long done =
      ::syscall(SYS_futex_waitv, several.data(), static_cast<unsigned>(words.size()), 0U, &until, CLOCK_MONOTONIC);
  if (done >= 0) return true;
  if (errno != ENOSYS && errno != EPERM) return errno != ETIMEDOUT;
  return sleep_on_one(words.front(), std::min(at_most, kOneWordStep)) || changed(words);
}

int wake_sleepers(const env::Word& word, int at_most) {
  const long woken = ::syscall(SYS_futex, address_of(word), FUTEX_WAKE, at_most, nullptr, nullptr, std::uint32_t{0});
  return static_cast<int>(woken);
}

void FakeWords::wait(std::span<const env::Watched> words, Duration at_most) {
  if (!world_->running(process_)) {
    ::poll(nullptr, 0, kSliceMs);
    return;
  }
  const bool ran_out = !sleep_on(words, std::min(at_most, book_->longest_sleep()));
  book_->note_wait(ran_out && !changed(words));
  while (world_->stopped(process_)) ::poll(nullptr, 0, kSliceMs);
}

void FakeWords::wake(const env::Word& word, int at_most) {
  book_->note_wake(at_most == 1, wake_sleepers(word, at_most));
}

}  // namespace tenure::fakes
