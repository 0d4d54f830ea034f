#include "os/linux/byte_locks.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "os/linux/entry_locks.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using Sight = env::LocalFolder::ByteSight;

struct flock lock_of(std::uint64_t byte, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

// Whether an open-file-description lock other than this description's own lies on the byte; nullopt: it cannot be
// asked.
std::optional<bool> is_locked(int descriptor, std::uint64_t byte) {
  struct flock lock = lock_of(byte, F_WRLCK);
  if (retry_interrupted([&] { return fcntl(descriptor, F_OFD_GETLK, &lock); }) != 0) return std::nullopt;
  return lock.l_type != F_UNLCK;
}

Result<OpenFile> open_lock(const LocalPlace& place, int access, std::optional<FileIdentity> expected) {
  const auto folder = place.open();
  if (!folder) return fail(folder.error());
  auto file = open_present(*folder, kLockName, access);
  if (!file) return fail(file.error());
  if (!*file || (expected && identity_of((*file)->status) != *expected)) {
    return fail(Code::damaged, shown(*folder, kLockName) + " was removed or replaced", "open the space anew");
  }
  return std::move(**file);
}

// The file, with the byte locked; nullopt: another has it.
Result<std::optional<OpenFile>> lock_byte(const LocalPlace& place, std::uint64_t byte, FileIdentity expected) {
  auto file = open_lock(place, O_RDWR, expected);
  if (!file) return fail(file.error());
  struct flock lock = lock_of(byte, F_WRLCK);
  const int descriptor = file->descriptor.get();
  if (retry_interrupted([&] { return fcntl(descriptor, F_OFD_SETLK, &lock); }) == 0) return std::move(*file);
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  return system_failure(errno, "lock a byte of", place.at(kLockName));
}

Result<OwnMapping> keep_by_mapping(const LocalPlace& place, const OpenFile& file) {
  return OwnMapping::map(file.descriptor.get(), 1, PROT_NONE, place.at(kLockName));
}

class RealPassedByte final : public env::PassedByte {
 public:
  RealPassedByte(std::uint64_t byte, OpenFile file, OwnMapping page)
      : byte_(byte), file_(std::move(file)), page_(std::move(page)) {}
  ~RealPassedByte() override {
    // Never unlocked: the child's copy of the descriptor is to keep it.
    if (!still_ours()) file_.descriptor.release();
  }
  int descriptor() const noexcept override { return file_.descriptor.get(); }

 private:
  // The host may have closed it, and the number may lead elsewhere: to another file, or to the same one for another
  // byte. Of a description's own lock the kernel says nothing; to any other, this byte is locked.
  bool still_ours() const {
    struct stat now{};
    const int descriptor = file_.descriptor.get();
    return fstat(descriptor, &now) == 0 && identity_of(now) == identity_of(file_.status) &&
           is_locked(descriptor, byte_) == false;
  }

  std::uint64_t byte_;
  OpenFile file_;
  OwnMapping page_;  // so that the byte stays locked when the host closes the descriptor
};

}  // namespace

Result<bool> ByteLocks::take(std::uint64_t byte, FileIdentity expected) {
  auto file = lock_byte(*place_, byte, expected);
  if (!file) return fail(file.error());
  if (!*file) return false;
  auto page = keep_by_mapping(*place_, **file);
  if (!page) return fail(page.error());
  const std::lock_guard guard(mutex_);
  taken_.insert_or_assign(byte, std::move(*page));
  return true;
}

void ByteLocks::drop(std::uint64_t byte) noexcept {
  const std::lock_guard guard(mutex_);
  taken_.erase(byte);
}

Result<std::unique_ptr<env::PassedByte>> ByteLocks::pass(std::uint64_t byte, FileIdentity expected) const {
  auto file = lock_byte(*place_, byte, expected);
  if (!file) return fail(file.error());
  if (!*file) {
    return fail(Code::held, "byte " + std::to_string(byte) + " of " + place_->at(kLockName) + " is held by another");
  }
  auto page = keep_by_mapping(*place_, **file);
  if (!page) return fail(page.error());
  return std::make_unique<RealPassedByte>(byte, std::move(**file), std::move(*page));
}

Sight ByteLocks::probe(std::uint64_t byte, std::optional<FileIdentity> expected) const {
  const auto file = open_lock(*place_, O_RDONLY, expected);
  if (!file) return Sight::unreadable;
  const auto locked = is_locked(file->descriptor.get(), byte);
  if (!locked) return Sight::unreadable;
  if (*locked) return Sight::held;
  // "Free" is a proof of death: it must be said of the file that all others use now.
  const auto in_place = place_->leads_to(kLockName, identity_of(file->status));
  return in_place && *in_place ? Sight::free : Sight::unreadable;
}

}  // namespace tenure::os
