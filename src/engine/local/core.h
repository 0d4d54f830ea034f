// Core: what the parts of this engine share in one member: the table, who we are in it, and the ports.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/process_mark.h"
#include "engine/local/ceiling.h"
#include "engine/local/table.h"
#include "env/environment.h"
#include "env/local_folder.h"
#include "env/words.h"
#include "tenure/error.h"

namespace tenure::local {

// A few cells that this process took and does not use: the fast way to one. Any thread.
class Pockets {
 public:
  CellIndex take() noexcept {
    for (auto& pocket : pockets_) {
      if (pocket.load(std::memory_order_relaxed) == 0) continue;
      if (const CellIndex cell = pocket.exchange(0, std::memory_order_acquire); cell != 0) return cell;
    }
    return 0;
  }
  // False: all are full.
  bool put(CellIndex cell) noexcept {
    for (auto& pocket : pockets_) {
      CellIndex empty = 0;
      if (pocket.load(std::memory_order_relaxed) != 0) continue;
      if (pocket.compare_exchange_strong(empty, cell, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  // As they are now: for checks.
  std::vector<CellIndex> all() const {
    std::vector<CellIndex> cells;
    for (const auto& pocket : pockets_) {
      if (const CellIndex cell = pocket.load(std::memory_order_acquire); cell != 0) cells.push_back(cell);
    }
    return cells;
  }

 private:
  std::array<std::atomic<CellIndex>, 8> pockets_{};
};

inline constexpr Duration kRound = std::chrono::seconds(5);
inline constexpr Duration kIdleRound = std::chrono::minutes(1);  // of who has nothing to lose

struct Core {
  Core(env::Environment an_environment, std::shared_ptr<env::LocalFolder> a_folder,
       std::shared_ptr<env::Words> some_words)
      : environment(std::move(an_environment)),
        folder(std::move(a_folder)),
        words(std::move(some_words)),
        ceiling(*folder, *environment.clock) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const env::Environment environment;
  const std::shared_ptr<env::LocalFolder> folder;
  const std::shared_ptr<env::Words> words;
  Ceiling ceiling;
  std::unique_ptr<env::SharedMemory> memory;
  Table table;

  const base::ProcessMark mark;
  MemberId me;                // none: an observer, who only reads
  std::uint64_t nonce = 0;    // the first half of our claim ids
  std::uint32_t lock_as = 0;  // lock_word(me)
  std::uint64_t pid = 0;
  std::string owner_label;  // of claims that name no owner
  // The second half of a claim id: of the short way its epoch; else this, with the highest bit.
  std::atomic<std::uint64_t> next_claim{std::uint64_t{1} << 63};
  // Set once when our membership is over while we live (the table or the folder was taken away, our keeper was killed):
  // from then on every lease counts as lost. What happened is in `over_why`, written before.
  std::atomic<bool> over{false};
  std::string over_why;
  Pockets pockets;
  std::atomic<bool> unclean{false};                  // a lease could not be given back
  std::vector<std::string> notes;                    // for people, of the making of the table
  std::atomic<bool> waited{false};                   // somebody here has waited for a key
  std::atomic<bool> granted{false};                  // and had one, so that there may be something to lose
  std::atomic<Duration::rep> pause{kRound.count()};  // of the keeper between two rounds, nanoseconds
  std::mutex clearing;                               // one thread at a time clears up after dead members

  const ProcessIdentity& self() const { return environment.processes->self().identity; }
  std::int64_t monotonic_ns() const { return environment.clock->monotonic().since_origin.count(); }
  std::int64_t boot_ns() const { return environment.clock->boottime().since_origin.count(); }
  std::int64_t wall_ns() const { return environment.clock->wall().since_origin.count(); }
};

}  // namespace tenure::local
