#include "engine/local/section.h"

#include <array>

#include "engine/local/buckets.h"
#include "engine/local/membership.h"

namespace tenure::local {
namespace {

constexpr Duration kPatience = std::chrono::seconds(2);  // of calls that do not wait for a key
constexpr Duration kSectionLook = std::chrono::milliseconds(5);
constexpr int kLooks = 4'000;  // in that time, with wakes of others
constexpr int kSpins = 200;

MemberId owner_of(const Core& core, std::uint32_t word) {
  const std::uint16_t number = number_in_lock(word);
  if (number >= core.table.limits().members) return {};
  const std::uint32_t generation = generation_of(core.table.state(number).load(std::memory_order_acquire));
  // The word has the low bits alone; a number is not given out again before its buckets are cleared.
  if ((generation & kGenerationMask) != generation_in_lock(word)) return {};
  return {number, generation};
}

Error busy(const Core& core, std::uint32_t word) {
  const MemberId owner = owner_of(core, word);
  if (owner == core.me) {
    return Error{Code::section_busy, "another thread of this process is inside the table and does not leave it",
                 "was it stopped or ended there? (pthread_cancel and longjmp out of a call do that)", nullptr};
  }
  const MemberSeen seen = see_member(core, owner);
  const bool stopped = is_stopped(core, seen);
  std::string message = "the bucket of this key is held by ";
  message += stopped ? "stopped member pid " : "member pid ";
  message += std::to_string(seen.identity.pid);
  if (!seen.command.empty()) message += " (" + seen.command + ")";
  return Error{Code::section_busy, message + ", which is inside the short section of the table",
               stopped ? "continue it: kill -CONT " + std::to_string(seen.identity.pid) : "try again", nullptr};
}

bool spin(const Core& core, std::uint32_t bucket) {
  const Word32& lock = core.table.bucket(bucket).lock;
  for (int i = 0; i < kSpins; ++i) {
    if (lock.load(std::memory_order_relaxed) == 0) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

}  // namespace

bool owner_is_dead(Core& core, std::uint32_t word) {
  const MemberId owner = owner_of(core, word);
  if (!owner.none() && owner == core.me) return false;
  if (owner.none()) {
    // Who takes over the number of a dead member clears up after it under the next generation, before it is a member.
    const std::uint16_t number = number_in_lock(word);
    if (number >= core.table.limits().members || (number == core.me.number && !core.me.none())) return true;
    return core.folder->probe_byte(number) == env::LocalFolder::ByteSight::free;
  }
  return prove(core, owner, suspicious(core, owner) ? Care::usual : Care::quick).liveness == Liveness::dead;
}

Bound section_bound(const Core& core) {
  return {core.environment.clock->monotonic() + kPatience, nullptr, kLooks};
}

std::optional<Section> Section::take_over(Core& core, std::uint32_t bucket, std::uint32_t dead_word) {
  if (inside_section) return std::nullopt;
  inside_section = true;
  if (!core.table.bucket(bucket).lock.compare_exchange_strong(dead_word, core.lock_as | kSleepers,
                                                              std::memory_order_acquire, std::memory_order_relaxed)) {
    inside_section = false;
    return std::nullopt;
  }
  Section section(core, bucket);
  repair_bucket(core, section);
  return section;
}

Result<Section> Section::enter(Core& core, std::uint32_t bucket, const Bound& bound) {
  if (auto section = try_enter(core, bucket)) return std::move(*section);
  if (inside_section) {
    return fail(Code::section_busy, "this thread was interrupted inside the table of the space",
                "do not call tenure in a signal handler; set a flag, or Stop::request()");
  }
  Word32& lock = core.table.bucket(bucket).lock;
  std::uint32_t sleepers = 0;
  for (int look = 0;; ++look) {
    if (look == 0) spin(core, bucket);
    std::uint32_t seen = lock.load(std::memory_order_relaxed);
    if (seen == 0) {
      inside_section = true;
      // Who slept does not know whether others still do.
      if (lock.compare_exchange_strong(seen, core.lock_as | sleepers, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return Section(core, bucket);
      }
      inside_section = false;
      continue;
    }
    if (owner_is_dead(core, seen)) {
      if (auto section = take_over(core, bucket, seen)) return std::move(*section);
      continue;
    }
    if (bound.stop != nullptr && bound.stop->requested()) return fail(Code::cancelled, "the wait was given up");
    const MonotonicTime now = core.environment.clock->monotonic();
    const bool looked_enough = bound.looks != 0 && look >= bound.looks;
    if (looked_enough || (bound.until && now >= *bound.until)) return fail(busy(core, seen));
    if ((seen & kSleepers) == 0 && !lock.compare_exchange_strong(seen, seen | kSleepers, std::memory_order_relaxed)) {
      continue;
    }
    sleepers = kSleepers;
    const std::array watched{env::Watched{&lock, seen | kSleepers}};
    core.words->wait(watched, kSectionLook);
  }
}

}  // namespace tenure::local
