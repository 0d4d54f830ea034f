// Locks of single bytes of the file `lock`: open-file-description locks, each through a description of its own, that is
// kept by a mapping alone. So each can be let go alone, and ends with this address space.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "os/linux/local_place.h"
#include "os/linux/own_mapping.h"

namespace tenure::os {

// As env::LocalFolder says of the calls of these names. `expected`: the file that the caller is in through; where
// another lies under the name, nothing is locked and nothing is said of bytes (Code::damaged).
class ByteLocks {
 public:
  explicit ByteLocks(std::shared_ptr<const LocalPlace> place) : place_(std::move(place)) {}

  Result<bool> take(std::uint64_t byte, FileIdentity expected);
  void drop(std::uint64_t byte) noexcept;
  Result<std::unique_ptr<env::PassedByte>> pass(std::uint64_t byte, FileIdentity expected) const;
  // Needs only read permission. Without `expected`: whatever file lies there.
  env::LocalFolder::ByteSight probe(std::uint64_t byte, std::optional<FileIdentity> expected) const;

 private:
  std::shared_ptr<const LocalPlace> place_;
  std::mutex mutex_;
  std::map<std::uint64_t, OwnMapping> taken_;
};

}  // namespace tenure::os
