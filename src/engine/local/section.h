// Section: the short mutual exclusion of a bucket, taken and left with one atomic operation each.
//
// The lock word is our own, because a robust mutex that several processes lock misjudges death across pid namespaces:
// it names the member inside. Who finds a dead one there, by proof, takes the word over and repairs the bucket from the
// commit words. A member that is stopped inside holds the bucket up until it goes on: no one breaks in.
//
// Nothing inside calls out, allocates, or takes more than a few hundred instructions (a repair apart).
#pragma once

#include <optional>
#include <utility>

#include "engine/local/core.h"
#include "engine/local/fault_point.h"
#include "tenure/stop.h"

namespace tenure::local {

// Whether the member that a lock word names is proven dead. Asks the system where there is reason to.
bool owner_is_dead(Core& core, std::uint32_t word);

// How long somebody waits: for a section, for a key.
struct Bound {
  std::optional<MonotonicTime> until;  // nullopt: without bound
  const Stop* stop = nullptr;
  int looks = 0;  // 0: any number; else at most so many, should the clock stand still
};
// For calls that do not wait for a key.
Bound section_bound(const Core& core);

// Whether this thread is inside a section: then a call comes from a signal handler, and must not wait for it.
[[gnu::tls_model("initial-exec")]] inline thread_local bool inside_section = false;

class Section {
 public:
  // Code::section_busy: the member inside did not leave in time (the message names it, and says if it is stopped), or
  // this very thread is inside. Code::cancelled.
  static Result<Section> enter(Core& core, std::uint32_t bucket, const Bound& bound);
  // One try.
  static std::optional<Section> try_enter(Core& core, std::uint32_t bucket) noexcept {
    if (inside_section) return std::nullopt;
    inside_section = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::uint32_t free = 0;
    if (core.table.bucket(bucket).lock.compare_exchange_strong(free, core.lock_as, std::memory_order_acquire,
                                                               std::memory_order_relaxed)) {
      return Section(core, bucket);
    }
    inside_section = false;
    return std::nullopt;
  }
  // Takes the word over from a member that is proven dead, and repairs. nullopt: somebody else did.
  static std::optional<Section> take_over(Core& core, std::uint32_t bucket, std::uint32_t dead_word);

  Section(Section&& other) noexcept : core_(std::exchange(other.core_, nullptr)), bucket_(other.bucket_) {}
  Section& operator=(Section&&) = delete;
  ~Section() { leave(); }

  void leave() noexcept {
    if (core_ == nullptr) return;
    Bucket& bucket = core_->table.bucket(bucket_);
    TENURE_POINT("before unlock");
    bucket.sequence.store(bucket.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    const std::uint32_t before = bucket.lock.exchange(0, std::memory_order_release);
    TENURE_POINT("after unlock");
    if ((before & kSleepers) != 0) core_->words->wake(bucket.lock, 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    inside_section = false;
    core_ = nullptr;
  }
  std::uint32_t bucket_index() const { return bucket_; }
  Bucket& bucket() const { return core_->table.bucket(bucket_); }

 private:
  // The word is ours.
  Section(Core& core, std::uint32_t bucket) noexcept : core_(&core), bucket_(bucket) {
    Word32& sequence = core.table.bucket(bucket).sequence;
    sequence.store((sequence.load(std::memory_order_relaxed) | 1), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    TENURE_POINT("inside");
  }

  Core* core_;
  std::uint32_t bucket_;
};

}  // namespace tenure::local
