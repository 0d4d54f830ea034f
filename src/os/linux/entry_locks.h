// Who is in a local space: flock(2) on its file `lock` and on the folder itself, shared by members, exclusive by
// whoever makes a table.
//
// The lock of `lock` is held by a mapping. A folder cannot be mapped: until a keeper thread holds it in a descriptor
// table of its own, an ordinary descriptor does. The locks are converted through these descriptors; where the host has
// closed them, both files are locked anew instead.
#pragma once

#include <memory>

#include "os/linux/local_place.h"
#include "os/linux/own_mapping.h"
#include "os/linux/own_process.h"

namespace tenure::os {

inline constexpr char kLockName[] = "lock";

// A descriptor whose number may have been closed by the host, and be another file's by now.
class EntryFile {
 public:
  EntryFile() = default;
  EntryFile(Fd descriptor, const struct stat& status) : descriptor_(std::move(descriptor)), status_(status) {}
  EntryFile(EntryFile&&) noexcept = default;
  EntryFile& operator=(EntryFile&& other) noexcept;
  ~EntryFile() { close(); }

  bool ours() const noexcept;
  int descriptor() const noexcept { return descriptor_.get(); }
  const struct stat& status() const noexcept { return status_; }
  void close() noexcept;

 private:
  Fd descriptor_;
  struct stat status_{};
};

// As env::LocalFolder says of the calls of these names. One thread calls them.
class EntryLocks {
 public:
  explicit EntryLocks(std::shared_ptr<const LocalPlace> place) : place_(std::move(place)) {}
  ~EntryLocks() { leave(); }
  EntryLocks(const EntryLocks&) = delete;
  EntryLocks& operator=(const EntryLocks&) = delete;

  Result<void> enter(Duration at_most);
  // On an error we are not in any more.
  Result<bool> enter_alone();
  Result<void> let_others_in();
  void leave() noexcept;

  // Closes the descriptors: from now on the mapping holds the one lock, and whoever else has locked the folder the
  // other.
  void hand_over() noexcept;
  // The file that we are in through, also after leaving; nothing before the first time.
  FileIdentity lock_file() const { return lock_file_; }

 private:
  struct Held {
    EntryFile folder;
    EntryFile lock;
    OwnMapping page;
  };
  Result<Held> lock_both(Duration at_most) const;
  Result<void> back_to_shared(Duration at_most);
  bool convertible() const noexcept { return held_.folder.ours() && held_.lock.ours(); }

  std::shared_ptr<const LocalPlace> place_;
  Held held_;
  FileIdentity lock_file_;
  bool alone_ = false;
  OwnProcess process_;
};

}  // namespace tenure::os
