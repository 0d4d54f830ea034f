// Descriptor: owns one open file descriptor, and closes it exactly once.
#pragma once

#include <unistd.h>

#include <utility>

namespace tenure::base {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.value_, -1));
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int get() const noexcept { return value_; }
  bool open() const noexcept { return value_ >= 0; }
  explicit operator bool() const noexcept { return open(); }
  // Gives the number away; the caller closes it.
  int release() noexcept { return std::exchange(value_, -1); }
  // Linux frees the number even where close() says EINTR, so it is never tried twice.
  void reset(int value = -1) noexcept {
    if (value_ >= 0) ::close(value_);
    value_ = value;
  }

 private:
  int value_ = -1;
};

}  // namespace tenure::base
