#include "os/linux/death_flag.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tenure::os {
namespace {

bool set_list(::robust_list_head* head) {
  return syscall(SYS_set_robust_list, head, sizeof *head) == 0;
}

// What the kernel has for the calling thread.
bool get_list(::robust_list_head*& head) {
  std::size_t size = 0;
  return syscall(SYS_get_robust_list, 0, &head, &size) == 0;
}

}  // namespace

bool DeathFlag::arm(env::Word& word) {
  node_.next = &head_.list;
  head_.list.next = &node_;
  head_.futex_offset =
      static_cast<long>(reinterpret_cast<std::intptr_t>(&word) - reinterpret_cast<std::intptr_t>(&node_));
  head_.list_op_pending = nullptr;
  if (!get_list(former_) || !set_list(&head_)) return false;
  ::robust_list_head* taken = nullptr;
  if (!get_list(taken) || taken != &head_) {
    set_list(former_);
    return false;
  }
  word_ = &word;
  word.store(static_cast<std::uint32_t>(gettid()), std::memory_order_release);
  return true;
}

void DeathFlag::disarm() noexcept {
  if (word_ == nullptr) return;
  word_->store(0, std::memory_order_release);
  word_ = nullptr;
  set_list(former_);
}

}  // namespace tenure::os
