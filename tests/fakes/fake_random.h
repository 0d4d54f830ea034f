// FakeRandom: bytes that follow from a seed, and a source that can run dry.
#pragma once

#include <cstdint>
#include <mutex>

#include "env/random.h"

namespace tenure::fakes {

// Give each fake process a seed of its own: two with one seed draw the same claim ids.
class FakeRandom final : public env::Random {
 public:
  // Mixed once: from neighbouring seeds the sequence would be the same, a step apart.
  explicit FakeRandom(std::uint64_t seed) : state_(seed) { state_ = next(); }

  Result<void> fill(std::span<std::uint8_t> out) override {
    std::lock_guard lock(mutex_);
    if (dry_) return fail(Code::no_randomness, "the fake source of random bytes is dry");
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(next() >> 56U);
    return {};
  }

  void run_dry(bool dry) {
    std::lock_guard lock(mutex_);
    dry_ = dry;
  }

 private:
  // splitmix64: well spread from any seed.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  std::mutex mutex_;
  std::uint64_t state_;
  bool dry_ = false;
};

}  // namespace tenure::fakes
