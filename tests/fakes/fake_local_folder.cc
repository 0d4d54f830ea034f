#include "fakes/fake_local_folder.h"

#include <algorithm>
#include <cstring>

#include "fakes/fake_local_member.h"
#include "fakes/fake_random.h"

namespace tenure::fakes {

namespace {
constexpr std::uint32_t kFirstThreadId = 500'001;
}

std::shared_ptr<FakeLocalStore> FakeLocalStore::create(std::shared_ptr<FakeWorld> world,
                                                       std::shared_ptr<FakeClock> clock, Mappings mappings) {
  std::shared_ptr<FakeLocalStore> store(new FakeLocalStore(world, clock, mappings));
  // Before the disk does so: a word is flagged first, locks are let go after it.
  world->on_death([weak = std::weak_ptr<FakeLocalStore>(store)](ProcessNumber process) {
    if (auto still = weak.lock()) still->ended(process);
  });
  store->disk_ = FakeDisk::create(std::move(world), std::move(clock));
  return store;
}

std::unique_ptr<env::LocalFolder> FakeLocalStore::open(ProcessNumber process) {
  auto directory = disk_->open(process);
  auto plan = faults(process);
  std::lock_guard lock(mutex());
  const Number id = disk_->next_++;
  entries_[id].process = process;
  return std::make_unique<FakeLocalMember>(shared_from_this(), process, id, std::move(plan), std::move(directory));
}

std::shared_ptr<env::Words> FakeLocalStore::words(ProcessNumber process) {
  return std::make_shared<FakeWords>(world_, process, book_);
}

void FakeLocalStore::set_capacity(std::size_t bytes) {
  std::lock_guard lock(mutex());
  capacity_ = bytes;
}

void FakeLocalStore::refuse_keepers(bool refuse) {
  std::lock_guard lock(mutex());
  no_keepers_ = refuse;
}

std::span<std::byte> FakeLocalStore::table() {
  std::lock_guard lock(mutex());
  auto present = present_table();
  if (!present || *present == nullptr) return {};
  return {(*present)->data(), (*present)->allocated()};
}

void FakeLocalStore::scribble(std::uint64_t seed, std::size_t from, std::size_t count) {
  const std::span<std::byte> all = table();
  if (from >= all.size()) return;
  FakeRandom random(seed);
  std::vector<std::uint8_t> noise(std::min(count, all.size() - from));
  if (random.fill(noise)) std::memcpy(all.data() + from, noise.data(), noise.size());
}

void FakeLocalStore::become_a_copy() {
  std::lock_guard lock(mutex());
  ++copies_;
}

bool FakeLocalStore::share_byte(std::uint64_t byte, ProcessNumber parent, ProcessNumber child) {
  std::lock_guard lock(mutex());
  for (auto& [where, hold] : bytes_) {
    if (where.second != byte || hold.entry != 0 || !hold.processes.contains(parent)) continue;
    hold.processes.insert(child);
    return true;
  }
  return false;
}

void FakeLocalStore::kill_keeper(ProcessNumber process) {
  std::lock_guard lock(mutex());
  for (auto& [id, entry] : entries_) {
    if (entry.process == process && entry.keeper) entry.keeper->die();
  }
}

void FakeLocalStore::die_slowly(ProcessNumber process) {
  std::lock_guard lock(mutex());
  slow_.insert(process);
}

void FakeLocalStore::let_go(ProcessNumber process) {
  std::lock_guard lock(mutex());
  slow_.erase(process);
  let_go_now(process);
}

void FakeLocalStore::lose_power(const PowerLoss& how) {
  {
    std::lock_guard lock(mutex());
    for (auto& [id, entry] : entries_) {
      for (const auto& weak : entry.mappings) {
        if (auto mapping = weak.lock()) mapping->cut_off();
      }
      if (entry.keeper) entry.keeper->die();
      entry.lock = 0;
    }
    alone_ = 0;
    bytes_.clear();
  }
  disk_->lose_power(how);
}

void FakeLocalStore::ended(ProcessNumber process) {
  std::lock_guard lock(mutex());
  for (auto& [id, entry] : entries_) {
    if (entry.process != process) continue;
    for (const auto& weak : entry.mappings) {
      if (auto mapping = weak.lock()) mapping->cut_off();
    }
    if (entry.keeper) entry.keeper->die();
  }
  if (!slow_.contains(process)) let_go_now(process);
}

std::vector<ProcessNumber> FakeLocalStore::inside() const {
  std::lock_guard lock(mutex());
  std::vector<ProcessNumber> all;
  for (const auto& [id, entry] : entries_) {
    if (entry.lock != 0) all.push_back(entry.process);
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool FakeLocalStore::byte_held(std::uint64_t byte) const {
  std::lock_guard lock(mutex());
  auto it = disk_->names_.find(FakeDisk::top("lock"));
  return it != disk_->names_.end() && bytes_.contains({it->second, byte});
}

void FakeLocalStore::let_go_now(ProcessNumber process) {
  for (auto& [id, entry] : entries_) {
    if (entry.process == process) leave(entry, id);
  }
  for (auto it = bytes_.begin(); it != bytes_.end();) {
    std::set<ProcessNumber>& holders = it->second.processes;
    it = holders.erase(process) != 0 && holders.empty() ? bytes_.erase(it) : std::next(it);
  }
  disk_->changed_.notify_all();
}

void FakeLocalStore::leave(Entry& entry, Number id) {
  entry.lock = 0;
  if (alone_ == id) alone_ = 0;
  disk_->changed_.notify_all();
}

Result<std::shared_ptr<FakeTable>> FakeLocalStore::present_table() {
  auto inode = disk_->usable(FakeDisk::top("table"));
  if (!inode) {
    return fail(inode.error().code == Code::not_permitted ? Code::not_permitted : Code::damaged, inode.error().message);
  }
  if (*inode == nullptr) return nullptr;
  std::shared_ptr<FakeTable>& table = tables_[disk_->names_.at(FakeDisk::top("table"))];
  if (table == nullptr) {
    auto made = FakeTable::create(disk_->identity(FakeDisk::top("table")), (*inode)->bytes.size(), mappings_);
    if (!made) return fail(made.error());
    if (!(*inode)->bytes.empty()) std::memcpy((*made)->data(), (*inode)->bytes.data(), (*inode)->bytes.size());
    table = std::move(*made);
  }
  return table;
}

env::Word* FakeLocalStore::seen_by_all(const Entry& entry, env::Word* word) const {
  for (const auto& weak : entry.mappings) {
    auto mapping = weak.lock();
    env::Word* seen = mapping ? mapping->seen_by_all(word) : nullptr;
    if (seen != nullptr) return seen;
  }
  return word;
}

std::uint32_t FakeLocalStore::next_thread_id(ProcessNumber process) {
  return kFirstThreadId + thread_ids_[world_->identity_of(process).pid_namespace]++;
}

}  // namespace tenure::fakes
