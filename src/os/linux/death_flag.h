// DeathFlag: has the kernel flag a word when the calling thread ends, by whatever means, and wake one who sleeps on it.
//
// It is a robust futex (set_robust_list(2)) of one word: at the end of a thread the kernel walks the list that the
// thread registered, and sets FUTEX_OWNER_DIED in each listed word that holds the thread's id. The list and its node
// lie in memory of our own, where nobody else can reach into them; only the word is shared. It takes the place of
// glibc's own list for this thread, which therefore must not lock a robust pthread mutex meanwhile.
#pragma once

#include <linux/futex.h>

#include <cstddef>

#include "env/words.h"

namespace tenure::os {

class DeathFlag {
 public:
  DeathFlag() = default;
  DeathFlag(const DeathFlag&) = delete;
  DeathFlag& operator=(const DeathFlag&) = delete;

  // Registers the list, and only then puts the thread's id into the word: there is no instant at which the word holds
  // the id and would not be flagged. False, and the word as it was, where the kernel does not take the list. This
  // object must outlive the thread, or its disarm().
  bool arm(env::Word& word);
  // On the same thread. The word is 0 before the list is gone, for the same reason; the caller wakes who sleeps on it.
  void disarm() noexcept;

 private:
  ::robust_list node_{};
  ::robust_list_head head_{};
  ::robust_list_head* former_ = nullptr;
  env::Word* word_ = nullptr;
};

}  // namespace tenure::os
