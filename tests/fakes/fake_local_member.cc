#include "fakes/fake_local_member.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "fakes/fake_locks.h"
#include "fakes/fault_call.h"
#include "fakes/patience.h"

namespace tenure::fakes {

namespace {

constexpr const char* kLockName = "lock";
constexpr const char* kTableName = "table";
constexpr const char* kNewTableName = "table.new";
constexpr std::uint64_t kFolderInode = 1'000'000;
constexpr std::uint64_t kFolderBorn = 1'749'000'000'000'000'000;

std::unexpected<Error> not_in() {
  return fail(Code::internal, "this fake process is not in the folder");
}

}  // namespace

class FakeSharedMemory final : public env::SharedMemory {
 public:
  FakeSharedMemory(std::shared_ptr<FakeLocalStore> store, ProcessNumber process, std::shared_ptr<FaultPlan> faults,
                   std::shared_ptr<FakeMapping> mapping)
      : store_(std::move(store)), process_(process), faults_(std::move(faults)), mapping_(std::move(mapping)) {}

  std::byte* data() const noexcept override { return mapping_->data(); }
  std::size_t size() const noexcept override { return mapping_->size(); }
  std::size_t length() const noexcept override { return mapping_->table().allocated(); }
  Result<void> allocate(std::size_t bytes) override {
    return counted_call(*store_->world_, process_, *faults_, "allocate", [&]() -> Result<void> {
      std::lock_guard lock(store_->mutex());
      if (bytes > mapping_->table().allocated() && bytes > store_->capacity_) {
        return fail(Code::no_space, "no space left for the fake table");
      }
      return mapping_->table().allocate(bytes);
    });
  }
  FileIdentity identity() const noexcept override { return mapping_->table().identity(); }

 private:
  std::shared_ptr<FakeLocalStore> store_;
  ProcessNumber process_;
  std::shared_ptr<FaultPlan> faults_;
  std::shared_ptr<FakeMapping> mapping_;
};

class FakePassedByte final : public env::PassedByte {
 public:
  FakePassedByte(std::shared_ptr<FakeLocalStore> store, ProcessNumber process, FakeLocalStore::Byte byte,
                 std::uint64_t id)
      : store_(std::move(store)), process_(process), byte_(byte), id_(id), descriptor_(::eventfd(0, EFD_CLOEXEC)) {}
  ~FakePassedByte() override {
    if (descriptor_ >= 0) ::close(descriptor_);
    std::lock_guard lock(store_->mutex());
    auto it = store_->bytes_.find(byte_);
    if (it == store_->bytes_.end() || it->second.id != id_) return;
    it->second.processes.erase(process_);
    if (it->second.processes.empty()) store_->bytes_.erase(it);
  }
  FakePassedByte(const FakePassedByte&) = delete;
  FakePassedByte& operator=(const FakePassedByte&) = delete;

  int descriptor() const noexcept override { return descriptor_; }

 private:
  std::shared_ptr<FakeLocalStore> store_;
  ProcessNumber process_;
  FakeLocalStore::Byte byte_;
  std::uint64_t id_;
  int descriptor_;  // leads nowhere; it can be duplicated and closed like a real one
};

template <class Effect>
auto FakeLocalMember::call(const char* name, Effect effect) const -> decltype(effect()) {
  return counted_call(*store_->world_, process_, *faults_, name, [&] {
    std::lock_guard lock(store_->mutex());
    // Once more, under the lock: what a dead process held was let go of already.
    if (!store_->world_->running(process_)) return decltype(effect())(fail(dead_process()));
    return effect();
  });
}

template <class Effect>
void FakeLocalMember::call_surely(const char* name, Effect effect) const noexcept {
  bool done = false;
  const auto once = [&]() -> Result<void> {
    effect();
    done = true;
    return {};
  };
  [[maybe_unused]] const auto told = call(name, once);
  if (done) return;
  std::lock_guard lock(store_->mutex());
  if (store_->world_->running(process_)) effect();  // a refusal was planned, and there is nobody to refuse to
}

FakeLocalMember::~FakeLocalMember() {
  // Outside of the lock: a round that is under way may be about to call us.
  std::shared_ptr<FakeKeeper> keeper;
  {
    std::lock_guard lock(store_->mutex());
    keeper = std::move(entry().keeper);
  }
  keeper.reset();
  std::lock_guard lock(store_->mutex());
  std::erase_if(store_->bytes_, [&](const auto& item) { return item.second.entry == id_; });
  store_->leave(entry(), id_);
  store_->entries_.erase(id_);
}

env::LocalFolder::Birth FakeLocalMember::birth() const {
  std::lock_guard lock(store_->mutex());
  return {.identity = {.device = 1, .inode = kFolderInode + store_->copies_}, .born = kFolderBorn + store_->copies_};
}

Result<void> FakeLocalMember::enter_now(std::unique_lock<std::mutex>& lock, Duration at_most) {
  if (entry().lock != 0) return {};
  FakeDisk& disk = *store_->disk_;
  const auto open = [&] { return !store_->world_->running(process_) || store_->alone_ == 0; };
  const Ended ended = wait_on(lock, disk.changed_, *store_->clock_, at_most, nullptr, open);
  if (!store_->world_->running(process_)) return fail(dead_process());
  if (ended != Ended::ready) {
    const ProcessNumber inside = store_->entries_.at(store_->alone_).process;
    return fail(section_busy(*store_->world_, path() + "/" + kLockName, inside));
  }
  auto present = disk.usable(FakeDisk::top(kLockName));
  if (!present) return fail(present.error());
  if (disk.read_only_) return fail(Code::not_permitted, path() + " may only be read");
  if (*present == nullptr) {
    if (auto made = disk.create_file(FakeDisk::top(kLockName)); !made) return fail(made.error());
    disk.notify(FakeDisk::top(kLockName));
  }
  entry().lock = disk.names_.at(FakeDisk::top(kLockName));
  return {};
}

Result<void> FakeLocalMember::enter(Duration at_most) {
  return counted_call(*store_->world_, process_, *faults_, "enter", [&] {
    std::unique_lock lock(store_->mutex());
    return enter_now(lock, at_most);
  });
}

Result<bool> FakeLocalMember::enter_alone() {
  return call("enter_alone", [&]() -> Result<bool> {
    if (entry().lock == 0) return not_in();
    for (const auto& [id, other] : store_->entries_) {
      if (id != id_ && other.lock != 0) return false;
    }
    store_->alone_ = id_;
    return true;
  });
}

Result<void> FakeLocalMember::let_others_in() {
  return call("let_others_in", [&]() -> Result<void> {
    if (store_->alone_ != id_) return not_in();
    store_->alone_ = 0;
    store_->disk_->changed_.notify_all();
    return {};
  });
}

void FakeLocalMember::leave() noexcept {
  call_surely("leave", [&] {
    std::erase_if(store_->bytes_, [&](const auto& item) { return item.second.entry == id_; });
    store_->leave(entry(), id_);
  });
}

FileIdentity FakeLocalMember::lock_file() const {
  std::lock_guard lock(store_->mutex());
  return entry().lock == 0 ? FileIdentity{} : FileIdentity{.device = 1, .inode = entry().lock};
}

Result<bool> FakeLocalMember::lock_in_place() const {
  return call("lock_in_place", [&]() -> Result<bool> {
    if (entry().lock == 0) return not_in();
    return store_->disk_->identity(FakeDisk::top(kLockName)).inode == entry().lock;
  });
}

Result<std::unique_ptr<env::SharedMemory>> FakeLocalMember::mapped(const std::shared_ptr<FakeTable>& table,
                                                                   std::size_t bytes) {
  auto mapping = table->map(bytes);
  if (!mapping) return fail(mapping.error());
  auto& all = entry().mappings;
  std::erase_if(all, [](const auto& weak) { return weak.expired(); });
  all.push_back(*mapping);
  return std::make_unique<FakeSharedMemory>(store_, process_, faults_, std::move(*mapping));
}

Result<std::unique_ptr<env::SharedMemory>> FakeLocalMember::map_table(std::size_t at_least, std::size_t bytes) {
  return call("map_table", [&]() -> Result<std::unique_ptr<env::SharedMemory>> {
    auto table = store_->present_table();
    if (!table) return fail(table.error());
    if (*table == nullptr) return nullptr;
    if ((*table)->allocated() < at_least) return fail(Code::damaged, path() + "/table is too short");
    return mapped(*table, bytes);
  });
}

Result<std::unique_ptr<env::SharedMemory>> FakeLocalMember::make_table(std::size_t allocated, std::size_t bytes,
                                                                       const std::function<void(std::byte*)>& fill) {
  FakeDisk& disk = *store_->disk_;
  auto made = call("make_table.allocate", [&]() -> Result<std::shared_ptr<FakeTable>> {
    if (store_->alone_ != id_) return fail(Code::internal, "a table is made only by one who is in alone");
    if (auto may = disk.writable(); !may) return fail(may.error());
    disk.names_.erase(FakeDisk::top(kNewTableName));
    if (allocated > store_->capacity_) return fail(Code::no_space, "no space left for the fake table");
    auto file = disk.create_file(FakeDisk::top(kNewTableName));
    if (!file) return fail(file.error());
    auto table = FakeTable::create(disk.identity(FakeDisk::top(kNewTableName)), allocated, store_->mappings_);
    if (table) store_->tables_[*file] = *table;
    return table;
  });
  if (!made) return fail(made.error());
  fill((*made)->data());
  auto mine = call("make_table.rename", [&]() -> Result<std::unique_ptr<env::SharedMemory>> {
    disk.names_[FakeDisk::top(kTableName)] = (*made)->identity().inode;
    disk.names_.erase(FakeDisk::top(kNewTableName));
    disk.notify(FakeDisk::top(kTableName));
    return mapped(*made, bytes);
  });
  if (mine || !store_->world_->running(process_)) return mine;
  std::lock_guard lock(store_->mutex());
  disk.names_.erase(FakeDisk::top(kNewTableName));
  return mine;
}

Result<bool> FakeLocalMember::in_place(const env::SharedMemory& table) const {
  return call("table_in_place", [&]() -> Result<bool> {
    return store_->disk_->in_place_ && store_->disk_->identity(FakeDisk::top(kTableName)) == table.identity();
  });
}

Result<void> FakeLocalMember::lock_byte(std::uint64_t byte, FakeLocalStore::ByteHold hold) {
  if (entry().lock == 0) return not_in();
  const bool taken = store_->bytes_.try_emplace({entry().lock, byte}, std::move(hold)).second;
  if (!taken) return fail(Code::held, "byte " + std::to_string(byte) + " of the fake lock file is taken");
  return {};
}

Result<bool> FakeLocalMember::take_byte(std::uint64_t byte) {
  return call("take_byte", [&]() -> Result<bool> {
    auto taken = lock_byte(byte, {.id = store_->disk_->next_++, .entry = id_, .processes = {process_}});
    if (!taken && taken.error().code != Code::held) return fail(taken.error());
    return taken.has_value();
  });
}

void FakeLocalMember::drop_byte(std::uint64_t byte) noexcept {
  call_surely("drop_byte", [&] {
    auto it = store_->bytes_.find({entry().lock, byte});
    if (it != store_->bytes_.end() && it->second.entry == id_) store_->bytes_.erase(it);
  });
}

// Of its own bytes F_OFD_GETLK says that they are free.
env::LocalFolder::ByteSight FakeLocalMember::probe_byte(std::uint64_t byte) const {
  const auto seen = call("probe_byte", [&]() -> Result<ByteSight> {
    auto file = store_->disk_->usable(FakeDisk::top(kLockName));
    const std::uint64_t lock =
        entry().lock != 0 ? entry().lock : store_->disk_->identity(FakeDisk::top(kLockName)).inode;
    if (!file || lock == 0) return ByteSight::unreadable;
    auto it = store_->bytes_.find({lock, byte});
    return it == store_->bytes_.end() || it->second.entry == id_ ? ByteSight::free : ByteSight::held;
  });
  return seen.value_or(ByteSight::unreadable);
}

Result<std::unique_ptr<env::PassedByte>> FakeLocalMember::pass_byte(std::uint64_t byte) {
  return call("pass_byte", [&]() -> Result<std::unique_ptr<env::PassedByte>> {
    const std::uint64_t id = store_->disk_->next_++;
    auto taken = lock_byte(byte, {.id = id, .entry = 0, .processes = {process_}});
    if (!taken) return fail(taken.error());
    return std::make_unique<FakePassedByte>(store_, process_, FakeLocalStore::Byte{entry().lock, byte}, id);
  });
}

Result<void> FakeLocalMember::start_keeper(env::KeeperJob job) {
  const auto meanwhile = job.meanwhile;
  return call("start_keeper", [&]() -> Result<void> {
    if (store_->no_keepers_) return fail(Code::unsupported, "the fake kernel takes no robust list");
    if (entry().keeper) return fail(Code::internal, "there is a keeper already");
    env::Word* life_of_all = store_->seen_by_all(entry(), job.life);
    auto keeper = std::make_shared<FakeKeeper>(store_->world_, process_, std::move(job), life_of_all,
                                               store_->next_thread_id(process_));
    if (auto started = keeper->start(); !started) return started;
    entry().keeper = std::move(keeper);
    meanwhile();
    return {};
  });
}

void FakeLocalMember::stop_keeper() noexcept {
  call_surely("stop_keeper", [] {});
  std::shared_ptr<FakeKeeper> keeper;
  {
    std::lock_guard lock(store_->mutex());
    keeper = std::move(entry().keeper);
  }
  // Of a dead process too: whoever is dropped after its death relies on it that no round comes any more.
  if (keeper) keeper->stop();
}

}  // namespace tenure::fakes
