// A piece of a file mapped so that forked children do not get it, and unmapped by destruction.
//
// What is locked through an open file description stays locked as long as a mapping made through the same one exists,
// even when every descriptor is closed: the lock then lives exactly as long as this address space, or this object.
#pragma once

#include <cstddef>
#include <string>

#include "os/linux/own_process.h"
#include "tenure/error.h"

namespace tenure::os {

class OwnMapping {
 public:
  OwnMapping() = default;
  // Shared with all who map the file. `protection` as of mmap(2); PROT_NONE takes no memory and can be touched by
  // nobody.
  static Result<OwnMapping> map(int descriptor, std::size_t bytes, int protection, const std::string& path);
  OwnMapping(OwnMapping&& other) noexcept;
  OwnMapping& operator=(OwnMapping&& other) noexcept;
  OwnMapping(const OwnMapping&) = delete;
  OwnMapping& operator=(const OwnMapping&) = delete;
  ~OwnMapping() { reset(); }

  bool mapped() const noexcept { return address_ != nullptr; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(address_); }
  std::size_t size() const noexcept { return bytes_; }
  // Does nothing in a forked child: there is no such mapping there, and something else may lie at its address.
  void reset() noexcept;

 private:
  OwnMapping(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}

  void* address_ = nullptr;
  std::size_t bytes_ = 0;
  OwnProcess process_;
};

}  // namespace tenure::os
