#include "floors.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "base/descriptor.h"
#include "must.h"
#include "peers.h"

namespace tenure::bench {
namespace {

// Maps a file of zeroes; whoever is first calls `make` on it, under a lock.
template <class Content, class Make>
Content* map_file(const std::string& path, Make make) {
  const base::Descriptor file(must(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), path.c_str()));
  must(::flock(file.get(), LOCK_EX), "flock");
  struct stat status{};
  must(::fstat(file.get(), &status), "fstat");
  const bool fresh = status.st_size == 0;
  if (fresh && ::posix_fallocate(file.get(), 0, sizeof(Content)) != 0) stop_here("no room for " + path);
  void* memory = ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) stop_here("mmap");
  auto* content = static_cast<Content*>(memory);
  if (fresh) make(*content);
  must(::flock(file.get(), LOCK_UN), "unlock");  // closing does not: the mapping keeps the file open
  return content;
}

std::int64_t boot_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, nullptr, nullptr, 0);
}
void futex_wake_one(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

constexpr std::size_t kSlots = 4096;  // a power of two
constexpr std::size_t kKeyBytes = 64;

}  // namespace

struct alignas(64) MutexFloor::Slot {
  std::array<char, kKeyBytes> key;
  std::uint64_t key_bytes;
  std::uint64_t epoch;  // 0: free
  std::uint64_t owner;
  std::int64_t since;
};

struct MutexFloor::Table {
  pthread_mutex_t mutex;
  std::uint64_t epoch;
  std::array<Slot, kSlots> slots;
};

MutexFloor::MutexFloor(const std::string& folder)
    : table_(map_file<Table>(folder + "/mutex-floor", [](Table& table) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&table.mutex, &attributes);
        pthread_mutexattr_destroy(&attributes);
      })) {}
MutexFloor::~MutexFloor() {
  ::munmap(table_, sizeof(Table));
}

std::uint64_t MutexFloor::claim(std::string_view key) noexcept {
  const std::size_t index = std::hash<std::string_view>{}(key) & (kSlots - 1);
  pthread_mutex_lock(&table_->mutex);
  Slot& slot = table_->slots[index];
  std::uint64_t epoch = 0;
  if (slot.epoch == 0) {
    epoch = slot.epoch = ++table_->epoch;
    slot.key_bytes = std::min(key.size(), kKeyBytes);
    std::copy_n(key.data(), slot.key_bytes, slot.key.data());
    slot.owner = 1;
    slot.since = boot_ns();
  }
  pthread_mutex_unlock(&table_->mutex);
  return epoch;
}

void MutexFloor::release(std::string_view key) noexcept {
  const std::size_t index = std::hash<std::string_view>{}(key) & (kSlots - 1);
  pthread_mutex_lock(&table_->mutex);
  Slot& slot = table_->slots[index];
  if (std::string_view(slot.key.data(), slot.key_bytes) == key && slot.owner == 1) slot.epoch = 0;
  pthread_mutex_unlock(&table_->mutex);
}

void MutexFloor::take() {
  while (claim("bench") == 0) std::this_thread::sleep_for(kPollInterval);
}
void MutexFloor::give() {
  release("bench");
}

struct TicketLock::Line {
  // One word for each that may wait at once, on a cache line of its own; it holds the ticket that is served there.
  struct alignas(64) Place {
    std::atomic<std::uint32_t> served;
  };
  static constexpr std::uint32_t kPlaces = 128;  // a power of two
  alignas(64) std::atomic<std::uint32_t> next;
  std::array<Place, kPlaces> places;
};

TicketLock::TicketLock(const std::string& folder)
    : line_(map_file<Line>(folder + "/ticket-floor", [](Line& line) {
        // Ticket 0 is served at once. The other places hold a ticket that none of their own will be.
        for (std::uint32_t each = 1; each < Line::kPlaces; ++each) line.places[each].served = 0;
      })) {}
TicketLock::~TicketLock() {
  ::munmap(line_, sizeof(Line));
}

void TicketLock::take() {
  ticket_ = line_->next.fetch_add(1);
  auto& served = line_->places[ticket_ % Line::kPlaces].served;
  for (std::uint32_t seen = served; seen != ticket_; seen = served) futex_wait(served, seen);
}
void TicketLock::give() {
  const std::uint32_t following = ticket_ + 1;
  auto& served = line_->places[following % Line::kPlaces].served;
  served = following;
  // Nobody sleeps there yet: whoever draws that ticket finds it served.
  if (line_->next != following) futex_wake_one(served);
}

}  // namespace tenure::bench
