#include "os/linux/private_descriptors.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

// Linux 5.9.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace tenure::os {
namespace {

constexpr unsigned kUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE of linux/close_range.h, which older systems lack
constexpr int kStandardStreams = 3;

}  // namespace

bool keep_folder_privately(const LocalPlace& place) {
  if (syscall(SYS_close_range, 0U, ~0U, kUnshare) != 0) return false;
  auto folder = place.open();
  if (!folder || flock(folder->descriptor.get(), LOCK_SH | LOCK_NB) != 0) return false;
  const int descriptor = folder->descriptor.release();
  for (int number = 0; number < kStandardStreams; ++number) {
    if (number != descriptor) dup3(descriptor, number, O_CLOEXEC);
  }
  return true;
}

}  // namespace tenure::os
