// The floors of the local engine: what a claim and a release cost that give nothing but exclusion and an epoch. Neither
// knows of the death of a process; both lie in a file that processes map.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "way.h"

namespace tenure::bench {

// A mutex that processes share, and below it a hash, a look-up, a compare of the key, an epoch and a time stamp.
class MutexFloor final : public Way {
 public:
  explicit MutexFloor(const std::string& folder);
  ~MutexFloor() override;
  MutexFloor(const MutexFloor&) = delete;
  MutexFloor& operator=(const MutexFloor&) = delete;

  // The epoch; 0 when somebody has it.
  std::uint64_t claim(std::string_view key) noexcept;
  void release(std::string_view key) noexcept;
  // As a way: polls, each kPollInterval.
  void take() override;
  void give() override;

 private:
  struct Slot;
  struct Table;
  Table* table_;
};

// A ticket lock on futexes: first in, first out, one directed wake a hand-off.
class TicketLock final : public Way {
 public:
  explicit TicketLock(const std::string& folder);
  ~TicketLock() override;
  TicketLock(const TicketLock&) = delete;
  TicketLock& operator=(const TicketLock&) = delete;

  void take() override;
  void give() override;

 private:
  struct Line;
  Line* line_;
  std::uint32_t ticket_ = 0;
};

}  // namespace tenure::bench
