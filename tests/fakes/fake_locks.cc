#include "fakes/fake_locks.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "fakes/fault_call.h"

namespace tenure::fakes {

namespace {
constexpr std::size_t kMaxSectionBytes = 4'096;
}

FakeSectionLock::~FakeSectionLock() {
  std::lock_guard lock(disk_->mutex_);
  auto* hold = disk_->held_by(disk_->inodes_.at(inode_), id_);
  if (hold == nullptr) return;  // the process died or the power went
  const std::uint64_t folder = (*hold)->folder;
  hold->reset();
  disk_->notify_inode(inode_, folder);
}

Result<std::string> FakeSectionLock::read() {
  return counted_call(*disk_->world_, process_, *faults_, "section.read", [&]() -> Result<std::string> {
    std::lock_guard lock(disk_->mutex_);
    return disk_->inodes_.at(inode_).bytes.substr(0, kMaxSectionBytes);
  });
}

Result<void> FakeSectionLock::write(std::string_view bytes, bool durable) {
  auto done = counted_call(*disk_->world_, process_, *faults_, "section.write", [&]() -> Result<void> {
    std::lock_guard lock(disk_->mutex_);
    if (auto may = disk_->writable(); !may) return may;
    std::string padded(bytes);
    const std::size_t former = disk_->inodes_.at(inode_).bytes.size();
    if (padded.size() < former) padded.resize(former, ' ');
    return disk_->write(inode_, padded);
  });
  if (!done || !durable) return done;
  return counted_call(*disk_->world_, process_, *faults_, "section.sync", [&]() -> Result<void> {
    std::lock_guard lock(disk_->mutex_);
    disk_->sync(inode_);
    return {};
  });
}

FakeLifeLock::FakeLifeLock(std::shared_ptr<FakeDisk> disk, ProcessNumber process, std::uint64_t inode, std::uint64_t id,
                           bool keep_descriptor)
    : disk_(std::move(disk)),
      process_(process),
      inode_(inode),
      id_(id),
      descriptor_(keep_descriptor ? ::eventfd(0, EFD_CLOEXEC) : -1) {}

FakeLifeLock::~FakeLifeLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
  std::lock_guard lock(disk_->mutex_);
  auto* hold = disk_->held_by(disk_->inodes_.at(inode_), id_);
  if (hold == nullptr) return;
  (*hold)->processes.erase(process_);
  if (!(*hold)->processes.empty()) return;
  const std::uint64_t folder = (*hold)->folder;
  hold->reset();
  disk_->notify_inode(inode_, folder);
}

Error section_busy(const FakeWorld& world, const std::string& path, ProcessNumber inside) {
  std::string message = path + " is locked by process " + std::to_string(world.pid_of(inside));
  if (world.stopped(inside)) message += ", which is stopped";
  return Error{Code::section_busy, std::move(message), "", nullptr};
}

}  // namespace tenure::fakes
