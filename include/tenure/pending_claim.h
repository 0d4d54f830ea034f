// PendingClaim: a claim that waits in line while its caller does something else, such as sitting in poll or epoll.
//
//   auto pending = space.begin_claim(key, {.wait = std::nullopt});
//   // … pending->fd() goes into epoll; when it is readable:
//   auto lease = pending->take();
//
// It costs one thread, asleep in line, and two descriptors, from begin_claim() until take() or the destructor. Its
// place in line is taken soon after begin_claim(). Not thread-safe, but for cancel(); on_wait must not destroy it. A
// child made by fork must not use it.
#pragma once

#include <memory>

#include "tenure/error.h"

namespace tenure {

class Lease;
class Space;

class PendingClaim {
 public:
  PendingClaim(PendingClaim&&) noexcept;
  PendingClaim& operator=(PendingClaim&&) noexcept;
  PendingClaim(const PendingClaim&) = delete;
  PendingClaim& operator=(const PendingClaim&) = delete;
  // Cancels, and returns when the claim has ended, which is at once: a lease that was granted and not taken is given
  // back.
  ~PendingClaim();

  // Readable from the moment that the claim has ended, in whatever way, and for as long as this object lives. Neither
  // to be read from nor to be closed.
  int fd() const noexcept;
  // No system call.
  bool ended() const noexcept;
  // The lease, or why there is none: what Space::claim() would have returned. Waits where it has not ended yet. Once:
  // afterwards Code::usage.
  Result<Lease> take();
  // The claim ends with Code::cancelled, unless it was granted before that. Returns at once; any thread.
  void cancel() const noexcept;

 private:
  friend class Space;
  struct Claim;
  explicit PendingClaim(std::unique_ptr<Claim> claim);
  std::unique_ptr<Claim> claim_;
};

}  // namespace tenure
