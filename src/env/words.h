// The port to sleeping on a word of memory that processes share (a futex).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "tenure/time.h"

namespace tenure::env {

using Word = std::atomic<std::uint32_t>;

struct Watched {
  const Word* word = nullptr;
  std::uint32_t expected = 0;
};

class Words {
 public:
  virtual ~Words() = default;
  // Sleeps until one of `words` (one to 64 of them) no longer has its expected value, until a wake on one of them,
  // or for at most `at_most`. May return for nothing, and early: where the system cannot sleep on several words at once
  // it looks again in steps of 10 ms. The first word is the caller's own: a wake on it is never missed or late.
  virtual void wait(std::span<const Watched> words, Duration at_most) = 0;
  // Wakes at most `at_most` sleepers, in whatever process. Safe in a signal handler.
  virtual void wake(const Word& word, int at_most) = 0;
};

}  // namespace tenure::env
