#include "os/linux/own_process.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

namespace tenure::os {
namespace {

using Generation = std::atomic<std::uint64_t>;

// How many processes in a line of forks have had such a page filled; copied by fork, so that a child's number differs
// from those of all its ancestors.
Generation last_generation{0};

// nullptr where the kernel gives no such page: then the pid alone must do.
Generation* make_page() {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, size, MADV_WIPEONFORK) == 0) return static_cast<Generation*>(page);
  munmap(page, size);
  return nullptr;
}

// Never unmapped: objects of static storage may ask it late.
Generation* page() {
  static Generation* const made = make_page();
  return made;
}

std::uint64_t current_generation() {
  Generation* const current = page();
  if (current == nullptr) return 0;
  std::uint64_t seen = current->load(std::memory_order_relaxed);
  if (seen != 0) return seen;
  // The first object of this process since it was forked. Threads may race to be first; one number wins.
  const std::uint64_t fresh = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
  return current->compare_exchange_strong(seen, fresh, std::memory_order_relaxed) ? fresh : seen;
}

}  // namespace

OwnProcess::OwnProcess() : pid_(getpid()), generation_(current_generation()) {}

bool OwnProcess::same() const noexcept {
  const Generation* const current = page();
  return getpid() == pid_ && (current == nullptr || current->load(std::memory_order_relaxed) == generation_);
}

}  // namespace tenure::os
