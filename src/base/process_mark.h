// ProcessMark: remembers which process made an object, so that a forked child knows that it is not its own.
//
// It costs two loads and no system call: the kernel wipes one page of ours in every child that gets a copy of the
// memory (MADV_WIPEONFORK: fork, and clone without CLONE_VM). A child that shares the memory (vfork, CLONE_VM) is,
// rightly, the same.
#pragma once

#include <atomic>
#include <cstdint>

namespace tenure::base {

namespace detail {
// A word of the page, or of ordinary memory where the kernel has no such pages: then the process id decides.
extern std::atomic<std::atomic<std::uint64_t>*> process_word;
extern std::atomic<bool> word_is_wiped;
// The number of this process: the page is made, and filled, when that was not done yet.
std::uint64_t process_number() noexcept;
bool same_by_id(std::uint64_t number) noexcept;
}  // namespace detail

class ProcessMark {
 public:
  ProcessMark() noexcept : number_(detail::process_number()) {}
  bool same() const noexcept {
    if (!detail::word_is_wiped.load(std::memory_order_relaxed)) return detail::same_by_id(number_);
    return detail::process_word.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) == number_;
  }

 private:
  std::uint64_t number_;
};

}  // namespace tenure::base
