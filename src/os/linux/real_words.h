// Sleeping on words by futex(2): on one by FUTEX_WAIT, on several by futex_waitv(2), both shared, since a word may lie
// in memory of this process or in a file that others map.
#pragma once

#include "env/words.h"

namespace tenure::os {

class RealWords final : public env::Words {
 public:
  // Asks once whether futex_waitv(2) is there and allowed (Linux 5.16; seccomp filters of older containers refuse it).
  RealWords();
  // As if it were not there: what the fall-back does can be seen on any kernel.
  static RealWords without_many() { return RealWords(false); }

  // Whether a wait on several words is one sleep; otherwise it looks at all but the first every 10 ms.
  bool many() const noexcept { return many_.load(std::memory_order_relaxed); }

  void wait(std::span<const env::Watched> words, Duration at_most) override;
  void wake(const env::Word& word, int at_most) override;

 private:
  explicit RealWords(bool many) : many_(many) {}

  std::atomic<bool> many_;
};

}  // namespace tenure::os
