#include "os/linux/own_mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "os/linux/system_error.h"

namespace tenure::os {

Result<OwnMapping> OwnMapping::map(int descriptor, std::size_t bytes, int protection, const std::string& path) {
  void* address = mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return system_failure(errno, "map", path);
  OwnMapping mapping(address, bytes);
  if (madvise(address, bytes, MADV_DONTFORK) != 0) return system_failure(errno, "keep to ourselves", path);
  return mapping;
}

OwnMapping::OwnMapping(OwnMapping&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)), bytes_(other.bytes_), process_(other.process_) {}

OwnMapping& OwnMapping::operator=(OwnMapping&& other) noexcept {
  if (this == &other) return *this;
  reset();
  address_ = std::exchange(other.address_, nullptr);
  bytes_ = other.bytes_;
  process_ = other.process_;
  return *this;
}

void OwnMapping::reset() noexcept {
  void* address = std::exchange(address_, nullptr);
  if (address != nullptr && process_.same()) munmap(address, bytes_);
}

}  // namespace tenure::os
