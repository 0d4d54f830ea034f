#include "os/linux/real_words.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/limits.h"

// Linux 5.16; the headers of a build machine may be older than the kernel that the program meets.
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace tenure::os {
namespace {

using env::Watched;
using env::Word;

static_assert(sizeof(Word) == sizeof(std::uint32_t) && Word::is_always_lock_free, "the kernel looks at the bare word");

// How often the other words are looked at where the system cannot sleep on several.
constexpr Duration kLook = std::chrono::milliseconds{10};
constexpr std::size_t kFewWords = 3;  // of nearly all sleeps
constexpr std::size_t kMostWords = 64;

// struct futex_waitv and FUTEX_32 of linux/futex.h, which older headers lack.
struct Waiter {
  std::uint64_t value = 0;
  std::uint64_t address = 0;
  std::uint32_t flags = 2;  // a word of 32 bits, shared
  std::uint32_t reserved = 0;
};

timespec to_timespec(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((duration - seconds).count())};
}

Duration now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

// Whether sleeping on several words failed because there is no such call, or a filter does not let it through.
bool is_missing(int error) {
  return error == ENOSYS || error == EPERM || error == EACCES;
}

bool sleep_on_many_exists() {
  // No words at all: a kernel that knows the call finds fault with that.
  return syscall(SYS_futex_waitv, nullptr, 0U, 0U, nullptr, CLOCK_MONOTONIC) == 0 || !is_missing(errno);
}

// False when the time ran out; anything else that ends the sleep is for the caller to look into.
bool sleep_on_one(const Watched& watched, Duration at_most) {
  const timespec bound = to_timespec(at_most);
  return syscall(SYS_futex, watched.word, FUTEX_WAIT, watched.expected, &bound, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

// False when the system turned out not to offer it.
template <std::size_t Most>
bool sleep_on_many(std::span<const Watched> words, Duration at_most) {
  std::array<Waiter, Most> waiters{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    waiters[i].value = words[i].expected;
    waiters[i].address = reinterpret_cast<std::uintptr_t>(words[i].word);
  }
  const timespec end = to_timespec(now() + at_most);
  const auto count = static_cast<unsigned>(words.size());
  return syscall(SYS_futex_waitv, waiters.data(), count, 0U, &end, CLOCK_MONOTONIC) >= 0 || !is_missing(errno);
}

bool changed(const Watched& watched) {
  return watched.word->load(std::memory_order_acquire) != watched.expected;
}

// Sleeps on the first alone, and looks at the others now and then.
void sleep_and_look(std::span<const Watched> words, Duration at_most) {
  const Duration end = now() + at_most;
  while (std::ranges::none_of(words, changed)) {
    const Duration left = end - now();
    if (left <= Duration::zero() || sleep_on_one(words.front(), std::min(left, kLook))) return;
  }
}

}  // namespace

RealWords::RealWords() : many_(sleep_on_many_exists()) {}

void RealWords::wait(std::span<const Watched> words, Duration at_most) {
  words = words.first(std::min(words.size(), kMostWords));
  if (words.empty() || at_most <= Duration::zero()) return;
  at_most = std::min(at_most, limits::kLongestDuration);
  if (words.size() == 1) {
    sleep_on_one(words.front(), at_most);
    return;
  }
  if (many()) {
    const bool few = words.size() <= kFewWords;
    if (few ? sleep_on_many<kFewWords>(words, at_most) : sleep_on_many<kMostWords>(words, at_most)) return;
    many_.store(false, std::memory_order_relaxed);  // a filter was put on since
  }
  sleep_and_look(words, at_most);
}

void RealWords::wake(const Word& word, int at_most) {
  // Runs in signal handlers: errno belongs to whatever was interrupted.
  const int saved = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE, at_most, nullptr, nullptr, 0);
  errno = saved;
}

}  // namespace tenure::os
