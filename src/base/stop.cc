#include "tenure/stop.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tenure {

Result<Stop> Stop::create() {
  const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor >= 0) return Stop(descriptor, std::make_unique<std::atomic<std::uint32_t>>(0));
  const int error = errno;
  const bool exhausted = error == EMFILE || error == ENFILE || error == ENOMEM;
  return fail(exhausted ? Code::no_descriptors : Code::input_output,
              std::string("cannot make an event descriptor: ") + strerrordesc_np(error),
              exhausted ? "raise the limit of open files (ulimit -n)" : "");
}

Stop::Stop(Stop&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), word_(std::move(other.word_)) {}

Stop& Stop::operator=(Stop&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    word_ = std::move(other.word_);
  }
  return *this;
}

Stop::~Stop() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Stop::request() const noexcept {
  // Runs in signal handlers: errno belongs to whatever was interrupted. The write can fail only when the counter is
  // full, and then the descriptor is readable already.
  const int saved = errno;
  if (word_) {
    word_->store(1, std::memory_order_release);
    syscall(SYS_futex, word_.get(), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  const std::uint64_t one = 1;
  while (write(descriptor_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  errno = saved;
}

bool Stop::requested() const noexcept {
  return word_ && word_->load(std::memory_order_acquire) != 0;
}

}  // namespace tenure
