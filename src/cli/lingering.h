// What a keeper does about the end of a TTL: it stays, so that a late renewal with nobody in between still succeeds,
// and gives up when that did not come. Meanwhile the lease is expired, and others may take it at once.
#pragma once

#include <memory>
#include <optional>

#include "compose/real_environment.h"
#include "tenure/space.h"

namespace tenure::cli {

class Lingering {
 public:
  // Does nothing for a lease without a TTL. The lease and the space must outlive it.
  Lingering(const Lease& lease, const Space& space, std::optional<Duration> ttl);

  // How long nothing needs to be asked; nullopt: for ever.
  std::optional<Duration> until_next_look() const;
  // Looks, if it is time to: true when the lease is lost, or was cleared because nobody wanted it any more.
  bool over();

 private:
  using Time = MonotonicTime;
  Time now() const { return clock_->monotonic(); }
  bool look();
  bool give_up();

  const Lease& lease_;
  const Space& space_;
  const std::optional<Duration> ttl_;
  const std::shared_ptr<const env::Clock> clock_;
  Time next_look_;
  std::optional<Time> end_;  // while it is expired
};

}  // namespace tenure::cli
