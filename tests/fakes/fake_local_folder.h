// FakeLocalStore: the folder of a `local:` space with everything that fake processes share through it.
//
// The members are threads of one test program over one memory. Names and small files lie on a FakeDisk; `lock` and
// `table` are names of it too, so that a test can put a link, noise or another file under them with FakeDisk::place.
//
// When a process of the world ends: its mappings are cut off (see Mappings), its keeper's word is flagged and one
// sleeper woken, and only then its gate and its bytes are let go. Its calls end in Code::internal from then on.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/local_folder.h"
#include "fakes/fake_disk.h"
#include "fakes/fake_keeper.h"
#include "fakes/fake_table.h"
#include "fakes/fake_words.h"

namespace tenure::fakes {

// Thread-safe.
class FakeLocalStore : public std::enable_shared_from_this<FakeLocalStore> {
 public:
  static std::shared_ptr<FakeLocalStore> create(std::shared_ptr<FakeWorld> world, std::shared_ptr<FakeClock> clock,
                                                Mappings mappings = kUsualMappings);

  // The folder as one process has it open; each call is another description, as open(2) would give.
  std::unique_ptr<env::LocalFolder> open(ProcessNumber process);
  std::shared_ptr<env::Words> words(ProcessNumber process);
  // The names and the small files.
  FakeDisk& disk() { return *disk_; }
  // What goes wrong for that process: the calls of the folder, of its directory() and of their locks in one row.
  std::shared_ptr<FaultPlan> faults(ProcessNumber process) { return disk_->faults(process); }
  WakeCounts wakes() const { return book_->counts(); }
  void set_longest_sleep(Duration bound) { book_->set_longest_sleep(bound); }

  // Bytes that may be allocated to one table: beyond, Code::no_space.
  void set_capacity(std::size_t bytes);
  // start_keeper is Code::unsupported.
  void refuse_keepers(bool refuse);

  // What a stranger does behind the back of everybody.
  void delete_table() { disk_->erase("table"); }
  void replace_lock() { disk_->place("lock", Placed::file); }
  // The allocated bytes of the file under the name `table`, as everybody sees them; empty: there is none.
  std::span<std::byte> table();
  // Bytes that follow from the seed over `count` bytes of it, as far as it goes.
  void scribble(std::uint64_t seed, std::size_t from, std::size_t count);
  // The folder is a copy, or was restored: the same names in another folder.
  void become_a_copy();

  // A child to whom a passed byte of `parent` was given: it stays locked until both are gone. False: there is no such.
  bool share_byte(std::uint64_t byte, ProcessNumber parent, ProcessNumber child);
  // The keeper thread of that process is killed, and nothing else of it.
  void kill_keeper(ProcessNumber process);
  // A process whose memory takes long to be freed: its death flags the word, and gate and bytes stay until let_go().
  void die_slowly(ProcessNumber process);
  void let_go(ProcessNumber process);

  // The power went. Everybody is out, whether or not the world killed them; the disk forgets; the table keeps its bytes
  // if its name is still there. The processes are the world's: see FakeWorld::reboot.
  void lose_power(const PowerLoss& how = {});
  // Called by the world.
  void ended(ProcessNumber process);

  // Who is in, in order of their birth, and whether a byte of the file `lock` is held.
  std::vector<ProcessNumber> inside() const;
  bool byte_held(std::uint64_t byte) const;

 private:
  friend class FakeLocalMember;
  friend class FakeSharedMemory;
  friend class FakePassedByte;

  using Number = FakeDisk::Number;
  using Byte = std::pair<Number, std::uint64_t>;  // the file `lock` in question, and which byte of it

  // One description of the folder.
  struct Entry {
    ProcessNumber process{};
    Number lock = 0;  // the file `lock` that it is in through; 0: it is not in
    std::vector<std::weak_ptr<FakeMapping>> mappings;
    std::shared_ptr<FakeKeeper> keeper;
  };
  struct ByteHold {
    Number id = 0;
    Number entry = 0;  // 0: it was passed
    std::set<ProcessNumber> processes;
  };

  FakeLocalStore(std::shared_ptr<FakeWorld> world, std::shared_ptr<FakeClock> clock, Mappings mappings)
      : world_(std::move(world)), clock_(std::move(clock)), mappings_(mappings) {}

  // All below: with the mutex of the disk held, which guards the store too.
  std::mutex& mutex() const { return disk_->mutex_; }
  void let_go_now(ProcessNumber process);
  void leave(Entry& entry, Number id);
  // The table under the name, made of its bytes if a stranger put it there; nullptr: no such name.
  Result<std::shared_ptr<FakeTable>> present_table();
  env::Word* seen_by_all(const Entry& entry, env::Word* word) const;
  std::uint32_t next_thread_id(ProcessNumber process);

  const std::shared_ptr<FakeWorld> world_;
  const std::shared_ptr<FakeClock> clock_;
  const Mappings mappings_;
  std::shared_ptr<FakeDisk> disk_;
  const std::shared_ptr<WakeBook> book_ = std::make_shared<WakeBook>();
  std::map<Number, Entry> entries_;
  Number alone_ = 0;  // the entry that is in exclusively
  std::map<Byte, ByteHold> bytes_;
  std::map<Number, std::shared_ptr<FakeTable>> tables_;
  std::set<ProcessNumber> slow_;
  std::map<std::uint64_t, std::uint32_t> thread_ids_;  // by pid namespace: two of them give out the same ids
  std::size_t capacity_ = static_cast<std::size_t>(-1);
  bool no_keepers_ = false;
  std::uint64_t copies_ = 0;
};

}  // namespace tenure::fakes
