#include "base/process_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tenure::base::detail {

constinit std::atomic<std::atomic<std::uint64_t>*> process_word{nullptr};
constinit std::atomic<bool> word_is_wiped{false};

namespace {

// Copied by fork, so that a child's number is above all of its parent's.
constinit std::atomic<std::uint64_t> last_number{0};
constinit std::atomic<std::uint64_t> ordinary_word{0};

std::atomic<std::uint64_t>* make_word() noexcept {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) std::atomic<std::uint64_t>(0);
  munmap(page, size);
  return nullptr;
}

std::uint64_t own_id() noexcept {
  return static_cast<std::uint64_t>(getpid());
}

}  // namespace

std::uint64_t process_number() noexcept {
  auto* word = process_word.load(std::memory_order_acquire);
  if (word == nullptr) {
    auto* made = make_word();
    auto* fresh = made != nullptr ? made : &ordinary_word;
    if (process_word.compare_exchange_strong(word, fresh, std::memory_order_acq_rel)) {
      word_is_wiped.store(made != nullptr, std::memory_order_release);
      word = fresh;
    }
    // The page of one who came second stays unused.
  }
  if (word == &ordinary_word) return own_id();
  std::uint64_t number = word->load(std::memory_order_acquire);
  if (number != 0) return number;
  const std::uint64_t drawn = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  return word->compare_exchange_strong(number, drawn, std::memory_order_acq_rel) ? drawn : number;
}

bool same_by_id(std::uint64_t number) noexcept {
  // Between the page being chosen and being known as wiped, by another thread.
  auto* word = process_word.load(std::memory_order_acquire);
  if (word != nullptr && word != &ordinary_word) return word->load(std::memory_order_relaxed) == number;
  return number == own_id();
}

}  // namespace tenure::base::detail
