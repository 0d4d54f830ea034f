// Renews a lease with a TTL while a command runs: at a third of the TTL, and again soon where that failed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tenure/space.h"

namespace tenure::cli {

class Renewer {
 public:
  // Does nothing for a lease without a TTL. The lease must outlive it. `renewed` is called, on a thread of its own,
  // after each renewal.
  static Result<Renewer> start(Lease& lease, std::optional<Duration> ttl, std::function<void()> renewed);
  Renewer(Renewer&&) noexcept;
  Renewer& operator=(Renewer&&) = delete;
  ~Renewer();

  // Readable when the lease must be given up: it could not be renewed within its TTL.
  int descriptor() const;
  // Why, once that is so.
  std::string why() const;

 private:
  struct Shared;
  explicit Renewer(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace tenure::cli
