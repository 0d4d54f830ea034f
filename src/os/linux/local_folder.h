// The folder of a local space behind env::LocalFolder, whose header is the contract. Its parts:
//   local_place    the folder, found again for each call      local_directory  its small files
//   entry_locks    who is in                                   byte_locks       the bytes that stand for members
//   table_file     the shared memory                           keeper_thread    the thread that stands for this member
#pragma once

#include "env/local_folder.h"
#include "os/linux/byte_locks.h"
#include "os/linux/entry_locks.h"
#include "os/linux/keeper_thread.h"
#include "os/linux/local_directory.h"

namespace tenure::os {

class RealLocalFolder final : public env::LocalFolder {
 public:
  // Errors as of open_folder(); Code::unsuitable_folder also for every file system but ext4, xfs, btrfs, f2fs, zfs and
  // overlay; tmpfs only where it is `volatile_ok` that a reboot forgets the epochs. With checks.observe_only any file
  // system will do, the table is mapped for reading, and nothing else may be called but directory() and probe_byte().
  static Result<std::unique_ptr<RealLocalFolder>> open(const std::string& path, bool create, FolderChecks checks = {},
                                                       bool volatile_ok = false);
  // In a forked child it lets go of nothing that is its parent's.
  ~RealLocalFolder() override;

  // Where it lies. On "overlay" others that see the same path, but through another upper layer, see another space.
  const FileSystem& file_system() const { return place_->file_system(); }

  const std::string& path() const override { return place_->path(); }
  env::Directory& directory() override { return directory_; }
  Birth birth() const override { return place_->birth(); }

  Result<void> enter(Duration at_most) override { return entry_.enter(at_most); }
  Result<bool> enter_alone() override;
  Result<void> let_others_in() override { return entry_.let_others_in(); }
  void leave() noexcept override { entry_.leave(); }
  FileIdentity lock_file() const override { return entry_.lock_file(); }
  Result<bool> lock_in_place() const override { return place_->leads_to(kLockName, entry_.lock_file()); }

  Result<std::unique_ptr<env::SharedMemory>> map_table(std::size_t at_least, std::size_t bytes) override;
  Result<std::unique_ptr<env::SharedMemory>> make_table(std::size_t allocated, std::size_t bytes,
                                                        const std::function<void(std::byte*)>& fill) override;
  Result<bool> in_place(const env::SharedMemory& table) const override;

  Result<bool> take_byte(std::uint64_t byte) override { return bytes_.take(byte, entry_.lock_file()); }
  void drop_byte(std::uint64_t byte) noexcept override { bytes_.drop(byte); }
  ByteSight probe_byte(std::uint64_t byte) const override;
  Result<std::unique_ptr<env::PassedByte>> pass_byte(std::uint64_t byte) override;

  Result<void> start_keeper(env::KeeperJob job) override;
  void stop_keeper() noexcept override { keeper_.reset(); }

 private:
  explicit RealLocalFolder(std::shared_ptr<const LocalPlace> place);

  std::shared_ptr<const LocalPlace> place_;
  LocalDirectory directory_;
  EntryLocks entry_;
  ByteLocks bytes_;
  std::unique_ptr<KeeperThread> keeper_;
};

}  // namespace tenure::os
