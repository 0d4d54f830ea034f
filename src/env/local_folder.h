// The port to the folder of a `local:` space, as one member sees it: who is in, the memory that all members map, and
// the thread that stands for this member.
//
// Three files lie there:
//   lock     flock: shared by each member, exclusive by whoever makes a table. Its bytes, locked one by one through
//   open
//            file descriptions, stand for members and for what was passed to their children.
//   table    the shared memory
//   (others) small durable files, through directory()
//
// Locks of the entry and of bytes live exactly as long as this address space: they survive closefrom(3), are not
// inherited by fork or by a clone without CLONE_VM, end at exec and at death. They are held by mappings (MADV_DONTFORK)
// of a page of `lock`, the descriptors being closed.
//
// Thread rule: all calls are thread-safe, but enter, enter_alone, leave, start_keeper and stop_keeper, which one thread
// calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "env/directory.h"
#include "env/words.h"
#include "model/evidence.h"
#include "tenure/error.h"
#include "tenure/time.h"

namespace tenure::env {

// A file mapped by all members: MAP_SHARED, MADV_DONTFORK, MADV_RANDOM. Unmapped by destruction, but in a forked child.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  // Page-aligned; the same address as long as this object lives. Only what is allocated may be touched.
  virtual std::byte* data() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;  // what was mapped, allocated or not
  // How long the file was when it was mapped: to touch what lies behind its end would end the process.
  virtual std::size_t length() const noexcept = 0;
  // The first `bytes` bytes have room on the disk when it returns; new ones are zero. Never shrinks; any number of
  // processes may do it at once. Code::no_space.
  virtual Result<void> allocate(std::size_t bytes) = 0;
  virtual FileIdentity identity() const noexcept = 0;
  // These bytes are about to be used again and again: makes them cheap to touch at once. Advice, and no more.
  virtual void bring_in(std::size_t /*from*/, std::size_t /*bytes*/) const noexcept {}
};

// The right to a byte that was taken for a child: open (close-on-exec) until destroyed.
class PassedByte {
 public:
  virtual ~PassedByte() = default;
  // The byte stays locked until every copy of this descriptor is closed, and this object destroyed.
  virtual int descriptor() const noexcept = 0;
};

// What the keeper thread does: a word that the kernel flags when this thread ends, and what is done now and then. The
// words must stay mapped until stop_keeper().
struct KeeperJob {
  // The liveness word, in shared memory. While the keeper lives it holds the keeper's thread id (below 2^30), perhaps
  // with kSleepersBit. When the thread ends (death, exec, a kill of it alone) the kernel sets kFlaggedBit and wakes one
  // sleeper. The keeper puts its id there before start_keeper() returns. nullptr: no word, but all the rest.
  Word* life = nullptr;
  // Where others knock: raised and woken by them, it brings about `round`.
  Word* inbox = nullptr;
  // Called on the keeper's thread: after each knock, and at least once per `every`. Must not block for long.
  std::function<void()> round;
  Duration every{0};
  // Nanoseconds, read before each sleep in place of `every`, where it is given.
  const std::atomic<Duration::rep>* pause = nullptr;
  // Called by start_keeper(), perhaps while the thread comes up, which takes a tenth of a millisecond.
  std::function<void()> meanwhile = [] {};
};

inline constexpr std::uint32_t kThreadMask = 0x3fff'ffff;   // FUTEX_TID_MASK
inline constexpr std::uint32_t kFlaggedBit = 0x4000'0000;   // FUTEX_OWNER_DIED
inline constexpr std::uint32_t kSleepersBit = 0x8000'0000;  // FUTEX_WAITERS: set by hand before sleeping on it

class LocalFolder {
 public:
  virtual ~LocalFolder() = default;

  virtual const std::string& path() const = 0;
  // The same folder, for small durable files.
  virtual Directory& directory() = 0;
  // Names the folder through copies and restores: device, inode, and birth time (nanoseconds, 0: not known).
  struct Birth {
    FileIdentity identity;
    std::uint64_t born = 0;
    friend bool operator==(const Birth&, const Birth&) = default;
  };
  virtual Birth birth() const = 0;

  // Becomes one of those who are in: flock(LOCK_SH) on `lock` (made if it is missing) and on the folder itself. Waits
  // at most `at_most` for somebody who is making a table: Code::section_busy, naming the file. Where only reading is
  // permitted: Code::not_permitted.
  virtual Result<void> enter(Duration at_most) = 0;
  // From shared to exclusive on both, without waiting. True: nobody else is in, and nobody comes in until enter() or
  // leave(). False: somebody else is in; we are still in, shared. (Between the two the locks may be let go for a
  // moment: what was seen before must be looked at again.) On an error we are not in any more. Not while the keeper
  // runs.
  virtual Result<bool> enter_alone() = 0;
  // Back from exclusive to shared, at once. Where the host closed our descriptors meanwhile, others may have been in
  // alone in between. On an error we are not in any more.
  virtual Result<void> let_others_in() = 0;
  virtual void leave() noexcept = 0;
  // The file `lock` that we are in through; and whether the name still leads to it.
  virtual FileIdentity lock_file() const = 0;
  virtual Result<bool> lock_in_place() const = 0;

  // Maps `bytes` bytes of the table; nullptr: there is no such file. Code::damaged: it is no file that we may map (a
  // link, not regular, another's, shorter than `at_least`).
  virtual Result<std::unique_ptr<SharedMemory>> map_table(std::size_t at_least, std::size_t bytes) = 0;
  // Makes a new one: allocates `allocated` zero bytes under a temporary name (no copy-on-write where the file system
  // has such), lets `fill` write into it, and renames it over `table`. All or nothing; only while alone. Nothing of a
  // table need be durable but the fact that its blocks are allocated.
  virtual Result<std::unique_ptr<SharedMemory>> make_table(std::size_t allocated, std::size_t bytes,
                                                           const std::function<void(std::byte*)>& fill) = 0;
  // The folder's path still leads to this folder, and the name `table` to this file.
  virtual Result<bool> in_place(const SharedMemory& table) const = 0;

  // True: the byte of `lock` is ours. False: another has it. Each byte at most once.
  virtual Result<bool> take_byte(std::uint64_t byte) = 0;
  virtual void drop_byte(std::uint64_t byte) noexcept = 0;
  // Never tests by locking. Says nothing true of bytes that this object itself took.
  enum class ByteSight : std::uint8_t { held, free, unreadable };
  virtual ByteSight probe_byte(std::uint64_t byte) const = 0;
  // A byte of its own for a child. Code::held when it is taken.
  virtual Result<std::unique_ptr<PassedByte>> pass_byte(std::uint64_t byte) = 0;

  // Starts the thread that stands for this member. It blocks all signals and has a descriptor table of its own, in
  // which the folder is open and locked (shared) too. Code::unsupported where the kernel does not take its robust list:
  // then the byte alone proves death.
  virtual Result<void> start_keeper(KeeperJob job) = 0;
  // Ends it in good order: its word is 0 afterwards and everybody who slept on it is woken. Not from `round`.
  virtual void stop_keeper() noexcept = 0;
};

}  // namespace tenure::env
