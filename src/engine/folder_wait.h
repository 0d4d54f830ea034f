// Waiting for a key whose lease lies in a folder: looks, watches the folder, looks again, and sleeps.
//
// It takes the lock of the store only when a claim is likely to be granted (the claim looks first), so that waiters do
// not stand in the way of a release.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "env/directory.h"
#include "env/environment.h"

namespace tenure {

struct FolderWait {
  // What a change of a name in the watched folder means to a waiter.
  enum class Sign : std::uint8_t {
    nothing,
    changed,       // the lease may have changed hands
    section_free,  // whoever was inside has left
    let_go,        // the holder's lock of life was closed
  };

  std::function<Result<Grant>(const ClaimRequest& request, const Stop* stop, Duration section_wait)> claim;
  std::function<Result<Observation>(const Key& key)> holder;
  std::function<Result<std::unique_ptr<env::Watch>>()> watch;
  std::function<Sign(const std::string& name)> sign_of;
  const env::Environment* environment;
  // The death of a holder in another pid namespace is seen as Sign::let_go; where it is not, a waiter looks more often.
  bool watches_life = true;
};

// As Engine::await. All that `store` refers to must outlive the call.
Result<Grant> await_in_folder(const FolderWait& store, const ClaimRequest& request, const Wait& wait);

}  // namespace tenure
