// Stop: how a wait is told to give up, from another thread or from a signal handler.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tenure/error.h"

namespace tenure {

class Stop {
 public:
  // Takes one eventfd (close-on-exec). Code::no_descriptors.
  static Result<Stop> create();
  Stop(Stop&& other) noexcept;
  Stop& operator=(Stop&& other) noexcept;
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop();

  // Ends every wait that was given this object, present and future. Any thread; safe in a signal handler.
  void request() const noexcept;
  // No system call.
  bool requested() const noexcept;
  // Readable from the request on. Not to be read from.
  int descriptor() const noexcept { return descriptor_; }
  // Becomes 1 with the request, and is woken (futex, shared). For engines.
  const std::atomic<std::uint32_t>* word() const noexcept { return word_.get(); }

 private:
  Stop(int descriptor, std::unique_ptr<std::atomic<std::uint32_t>> word)
      : descriptor_(descriptor), word_(std::move(word)) {}
  int descriptor_ = -1;
  std::unique_ptr<std::atomic<std::uint32_t>> word_;
};

}  // namespace tenure
