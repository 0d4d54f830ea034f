// Way: one way of owning one thing on this machine, as one process would use it. Ours and its peers have the same
// shape, so that every measurement runs the same code around each.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tenure::bench {

class Way {
 public:
  virtual ~Way() = default;
  // Takes the thing; waits for as long as another process has it.
  virtual void take() = 0;
  // Gives it back. Only after take().
  virtual void give() = 0;
};

// The names that make_way knows, and what each is (the first of them, and the stores, lie in floors.h and stores.h):
//
//   local             Space::claim and Lease::release of the public API, in a local: space
//   receiver          the same in a receiver: space
//   pi-amq            the steps of pi-amq's receiver lease, as agentmux is made (below); a waiter polls each 5 ms
//   mutex, ticket     the floors of that
//   sqlite, redis, postgres
//   tenure            Space::claim and Lease::release of the public API, in a files: space
//   flock             flock(2) LOCK_EX and LOCK_UN on a descriptor that stays open
//   flock-open-close  open(2), flock(2), close(2)
//   o_excl            open(2) with O_CREAT|O_EXCL, and unlink(2)
//   flock-synced      as flock and as o_excl, with as many synced writes as a claim of ours makes, of the same sizes:
//   o_excl-synced     what is left between them and ours is not the price of durability
//   agentmux          the steps of AgentMux's lease protocol, written anew in their barest form, as a floor: under a
//                     flock read the lease, read and write the counter, write the lease, each written to a sibling,
//                     synced and renamed; for release read and unlink. It decodes nothing and judges nobody
//
// All but local, tenure, ticket, postgres and the flocks have nothing to wait with: they poll, each kPollInterval.
// way_names: those that are compared with a files: space.
std::vector<std::string> way_names();
std::unique_ptr<Way> make_way(const std::string& name, const std::string& folder);

}  // namespace tenure::bench
