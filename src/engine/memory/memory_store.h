// MemoryStore: the leases of one `memory:` space, shared by the engines of all its clients.
//
// Everything lies under one mutex; every change wakes everybody who waits. The highest epoch ever granted is one
// counter for all keys, so that a free key needs no trace.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "env/environment.h"

namespace tenure {

namespace memory {

// A request to yield. It lives on the stack of the thread that asks; the lease that is asked for names it until it has
// an outcome, or the asker leaves.
struct Asker {
  Ask ask;
  const env::Environment& environment;
  MonotonicTime until;
  Observation was;  // whom it was that was asked
  std::optional<Asked> outcome = {};

  void end(Became became, EventKind how, std::string words) {
    outcome = Asked{.became = became, .end = how, .words = std::move(words), .was = was};
  }
};

// An offer to a successor, by the clock of whoever made it.
struct OpenOffer {
  Offer offer;
  MonotonicTime until;
  std::uint64_t time_namespace = 0;
};

// What an operation runs under, and in which process, which need not be the holder's.
struct Guard {
  MonotonicTime until;
  ProcessIdentity by;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// One holder of a key.
struct Holding {
  ClaimId claim;
  Epoch epoch;
  Holder holder;
  Terms terms;
  // The claim or the last renewal, from which a TTL counts: on the contenders' clock and on the holder's.
  MonotonicTime extended_monotonic;
  BootTime extended_boot;
  std::optional<Guard> guard = {};  // while an operation runs under it
  std::vector<Asker*> asks = {};    // in the order of their asking
  std::optional<OpenOffer> offer = {};
};

// A claim in line. It lives on the stack of the thread that waits.
struct Waiter {
  const ClaimRequest& request;
  const env::Environment& environment;
  ClaimId claim;                              // drawn before the line was entered
  std::optional<Result<Grant>> outcome = {};  // set when it is taken out of the line
};

struct Slot {
  std::vector<Holding> holdings;  // in the order of their grants; more than one only where terms allow
  std::deque<Waiter*> line;       // in the order of their arrival

  bool idle() const { return holdings.empty() && line.empty(); }
};

// Why a lease ended, where it was not given back.
struct Ending {
  ClaimId claim;
  std::string why;
};

// What one Changes object has not been told yet.
struct Unseen {
  std::set<Key> keys;
  bool everything = false;
};

inline constexpr std::size_t kMaxKeys = 100'000;
inline constexpr std::size_t kMaxLine = 10'000;
inline constexpr std::size_t kMaxEndings = 1'024;  // the oldest gives way: its holder learns the fact without the why
inline constexpr std::size_t kMaxUnseenKeys = 4'096;  // beyond, "everything"

}  // namespace memory

class MemoryStore {
 public:
  MemoryStore() = default;
  // Goes on above an epoch that was granted elsewhere.
  explicit MemoryStore(Epoch highest) : highest_(highest) {}
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

 private:
  friend class MemoryEngine;
  friend class MemoryChanges;

  // All below: with mutex_ held.
  void announce(const Key& key);
  // A lease that ends now: those who asked for it are told, and unless it was given back, why is kept.
  void remember(const memory::Holding& ended, EventKind end, std::string why);
  std::string why_ended(const ClaimId& claim) const;
  void tidy(const Key& key);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, memory::Slot> slots_;
  Epoch highest_;
  std::deque<memory::Ending> endings_;
  std::set<memory::Unseen*> watchers_;
  std::uint64_t last_ask_ = 0;
  // Leases that end by themselves then: offers that go back to the line. An entry may be outdated.
  std::map<Key, MonotonicTime> ending_;
};

}  // namespace tenure
