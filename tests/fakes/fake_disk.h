// FakeDisk: a folder, and the folders in it, on a disk that forgets.
//
// What was not synced is gone after lose_power(): bytes that no fsync of their file covered, names that no fsync of
// their folder covered. A file that was moved to another folder may then lie under both names, or under none; a folder
// has never two names: it is under the new one when the folder that it was moved to was synced, else under the former.
// Processes reach it through a FakeDirectory each; the locks that they hold end with them.
//
// What a test does and asks names a thing by its path from the outermost folder: "name", "folder/name".
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/directory.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_processes.h"
#include "fakes/fault_plan.h"

namespace tenure::fakes {

// What a name can lead to. Anything but a readable file is Code::damaged (or not_permitted) to the port.
enum class Placed : std::uint8_t { file, fifo, directory, link, foreign, unreadable };

// How the power goes.
struct PowerLoss {
  // Of the last write that was not synced, this many bytes reached the disk; the rest is as it was before.
  std::optional<std::size_t> tear_at;
  // The names had reached the disk although nobody synced the folder: the file after a rename is there, and empty.
  bool names_survive = false;
};

// Thread-safe.
class FakeDisk : public std::enable_shared_from_this<FakeDisk> {
 public:
  static std::shared_ptr<FakeDisk> create(std::shared_ptr<FakeWorld> world, std::shared_ptr<FakeClock> clock);

  // The folder as one process has it open.
  std::unique_ptr<env::Directory> open(ProcessNumber process);
  // What goes wrong for that process.
  std::shared_ptr<FaultPlan> faults(ProcessNumber process);

  // All locks end and all watches fall silent. The processes are the world's: see FakeWorld::reboot.
  void lose_power(const PowerLoss& how = {});

  // Bytes that all named files may have together, and how many names there may be: beyond, Code::no_space.
  void set_capacity(std::size_t bytes);
  void set_max_names(std::size_t names);
  // Names that a file may have: one with more is Code::damaged to whoever opens it. 1 unless this was called.
  void set_most_links(std::size_t links);
  // Every change is refused with Code::read_only.
  void set_read_only(bool read_only);
  // Whoever asks for a watch gets a poll.
  void refuse_watches(bool refuse);
  // Events were dropped: every watch reports `everything`.
  void overflow_watches();
  // The folder was moved: its path no longer leads to it.
  void move_folder();

  // What a stranger does behind the back of everybody. Durable at once. Folders on the way are made; whatever is in a
  // folder goes with it.
  void place(const std::string& name, Placed kind, const std::string& bytes = {});
  void erase(const std::string& name);
  // A child to whom the descriptor of the life lock of `parent` was passed: the lock lasts until both are gone.
  void share_life(const std::string& name, ProcessNumber parent, ProcessNumber child);

  // What lies there now, and what would be left of it after lose_power().
  std::optional<std::string> bytes(const std::string& name) const;
  std::optional<std::string> durable_bytes(const std::string& name) const;
  std::vector<std::string> names(const std::string& folder = {}) const;
  // Paths of the files whose section or life lock is held now.
  std::vector<std::string> locked() const;

 private:
  friend class FakeDirectory;
  friend class FakeSectionLock;
  friend class FakeLifeLock;
  friend class FakeWatch;
  friend class FakeLocalStore;  // keeps its locks beside these, under the same mutex
  friend class FakeLocalMember;

  using Number = std::uint64_t;  // of an inode, of a lock

  static constexpr Number kRoot = 1;  // the inode of the outermost folder

  // A name in a folder, whatever the folder is called.
  struct Slot {
    Number folder = kRoot;
    std::string name;
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };
  using Names = std::map<Slot, Number>;

  struct Hold {
    Number id = 0;
    std::set<ProcessNumber> processes;
    Number folder = kRoot;  // through which the file was opened
  };
  struct Inode {
    Placed kind = Placed::file;
    std::string bytes;
    std::string durable;  // what an fsync covered
    WallTime modified;
    std::optional<Hold> section;
    std::optional<Hold> life;
  };
  struct LastWrite {
    Number inode = 0;
    std::string before;
    std::string after;
  };
  struct Pending {
    Number folder = kRoot;
    std::set<std::string> names;
    bool everything = false;
  };

  FakeDisk(std::shared_ptr<FakeWorld> world, std::shared_ptr<FakeClock> clock)
      : world_(std::move(world)), clock_(std::move(clock)) {}

  // All below: with mutex_ held.
  Number make_inode(Placed kind);
  static Slot top(const std::string& name) { return {kRoot, name}; }
  // Where a path leads by these names: the last part of it need not exist. nullopt: a folder on the way is missing.
  static std::optional<Slot> slot_of(const Names& names, const std::string& path);
  Slot make_way(const std::string& path);
  std::string path_of(const Slot& slot) const;
  std::optional<Number> number(const Slot& slot) const;
  Inode* find(const Slot& slot);
  const Inode* find(const Slot& slot) const;
  FileIdentity identity(const Slot& slot) const;
  // The slot that a folder is in now. nullopt: it is the outermost, or was removed.
  std::optional<Slot> slot_of_folder(Number folder) const;
  bool is_folder(Number inode) const { return inode == kRoot || inodes_.at(inode).kind == Placed::directory; }
  std::size_t links_of(Number inode) const;
  bool is_within(Number folder, Number outer) const;
  static std::vector<std::string> names_in(const Names& names, Number folder);
  static void forget_what_hangs_loose(Names& names);
  std::size_t used() const;
  Result<void> write(Number inode, std::string_view bytes);
  void sync(Number inode);
  void sync_names(Number folder);
  // Whether a name can be added there: the folder still exists, and there is room.
  Result<void> addable(const Slot& slot) const;
  Result<Number> create_file(const Slot& slot);
  Result<void> writable() const;
  // The file under the name, if it is one that may be opened.
  Result<Inode*> usable(const Slot& slot);
  void notify(const Slot& slot);
  // The folder itself was moved or removed.
  void notify_folder(Number folder);
  // By every name in the folder that leads to it.
  void notify_inode(Number inode, Number folder);
  void let_go(ProcessNumber process);
  std::optional<Hold>* held_by(Inode& inode, Number id);

  std::shared_ptr<FakeWorld> world_;
  std::shared_ptr<FakeClock> clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Number, Inode> inodes_;  // never forgotten: a file without a name may be open still
  Names names_;
  Names durable_names_;
  std::optional<LastWrite> last_write_;
  std::map<Number, Pending> watches_;
  std::map<ProcessNumber, std::shared_ptr<FaultPlan>> faults_;
  Number next_ = kRoot + 1;
  std::size_t capacity_ = static_cast<std::size_t>(-1);
  std::size_t max_names_ = static_cast<std::size_t>(-1);
  std::size_t most_links_ = 1;
  bool read_only_ = false;
  bool no_watches_ = false;
  bool in_place_ = true;
};

}  // namespace tenure::fakes
