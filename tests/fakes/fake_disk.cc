#include "fakes/fake_disk.h"

#include "fakes/fake_directory.h"

namespace tenure::fakes {

std::shared_ptr<FakeDisk> FakeDisk::create(std::shared_ptr<FakeWorld> world, std::shared_ptr<FakeClock> clock) {
  std::shared_ptr<FakeDisk> disk(new FakeDisk(world, std::move(clock)));
  world->on_death([weak = std::weak_ptr<FakeDisk>(disk)](ProcessNumber process) {
    if (auto still = weak.lock()) {
      std::lock_guard lock(still->mutex_);
      still->let_go(process);
    }
  });
  return disk;
}

std::unique_ptr<env::Directory> FakeDisk::open(ProcessNumber process) {
  return std::make_unique<FakeDirectory>(shared_from_this(), process, faults(process));
}

std::shared_ptr<FaultPlan> FakeDisk::faults(ProcessNumber process) {
  std::lock_guard lock(mutex_);
  auto& plan = faults_[process];
  if (!plan) plan = std::make_shared<FaultPlan>();
  return plan;
}

void FakeDisk::lose_power(const PowerLoss& how) {
  std::lock_guard lock(mutex_);
  if (!how.names_survive) names_ = durable_names_;
  for (auto& [number, inode] : inodes_) {
    inode.bytes = inode.durable;
    if (how.tear_at && last_write_ && last_write_->inode == number) {
      const std::string& before = last_write_->before;
      inode.bytes = last_write_->after.substr(0, *how.tear_at);
      if (before.size() > inode.bytes.size()) inode.bytes += before.substr(inode.bytes.size());
    }
    inode.durable = inode.bytes;
    inode.section.reset();
    inode.life.reset();
  }
  forget_what_hangs_loose(names_);
  durable_names_ = names_;
  last_write_.reset();
  watches_.clear();
  changed_.notify_all();
}

void FakeDisk::set_capacity(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

void FakeDisk::set_max_names(std::size_t names) {
  std::lock_guard lock(mutex_);
  max_names_ = names;
}

void FakeDisk::set_most_links(std::size_t links) {
  std::lock_guard lock(mutex_);
  most_links_ = links;
}

void FakeDisk::set_read_only(bool read_only) {
  std::lock_guard lock(mutex_);
  read_only_ = read_only;
}

void FakeDisk::refuse_watches(bool refuse) {
  std::lock_guard lock(mutex_);
  no_watches_ = refuse;
}

void FakeDisk::overflow_watches() {
  std::lock_guard lock(mutex_);
  for (auto& [number, pending] : watches_) pending.everything = true;
  changed_.notify_all();
}

void FakeDisk::move_folder() {
  std::lock_guard lock(mutex_);
  in_place_ = false;
}

void FakeDisk::place(const std::string& path, Placed kind, const std::string& bytes) {
  std::lock_guard lock(mutex_);
  const Slot slot = make_way(path);
  const Number number = make_inode(kind);
  inodes_[number].bytes = inodes_[number].durable = bytes;
  names_[slot] = durable_names_[slot] = number;
  forget_what_hangs_loose(names_);
  forget_what_hangs_loose(durable_names_);
  notify(slot);
}

void FakeDisk::erase(const std::string& path) {
  std::lock_guard lock(mutex_);
  for (Names* names : {&names_, &durable_names_}) {
    const auto slot = slot_of(*names, path);
    if (!slot) continue;
    if (names == &names_) {
      if (const auto gone = number(*slot)) notify_folder(*gone);
      notify(*slot);
    }
    names->erase(*slot);
    forget_what_hangs_loose(*names);
  }
}

void FakeDisk::share_life(const std::string& path, ProcessNumber parent, ProcessNumber child) {
  std::lock_guard lock(mutex_);
  const auto slot = slot_of(names_, path);
  Inode* inode = slot ? find(*slot) : nullptr;
  if (inode != nullptr && inode->life && inode->life->processes.contains(parent)) {
    inode->life->processes.insert(child);
  }
}

std::optional<std::string> FakeDisk::bytes(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const auto slot = slot_of(names_, path);
  const Inode* inode = slot ? find(*slot) : nullptr;
  return inode == nullptr ? std::nullopt : std::optional(inode->bytes);
}

std::optional<std::string> FakeDisk::durable_bytes(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const auto slot = slot_of(durable_names_, path);
  auto it = slot ? durable_names_.find(*slot) : durable_names_.end();
  return it == durable_names_.end() ? std::nullopt : std::optional(inodes_.at(it->second).durable);
}

std::vector<std::string> FakeDisk::names(const std::string& folder) const {
  std::lock_guard lock(mutex_);
  if (folder.empty()) return names_in(names_, kRoot);
  const auto slot = slot_of(names_, folder);
  const auto inode = slot ? number(*slot) : std::nullopt;
  return inode ? names_in(names_, *inode) : std::vector<std::string>{};
}

std::vector<std::string> FakeDisk::locked() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [slot, number] : names_) {
    const Inode& inode = inodes_.at(number);
    if (inode.section || inode.life) all.push_back(path_of(slot));
  }
  return all;
}

FakeDisk::Number FakeDisk::make_inode(Placed kind) {
  const Number number = next_++;
  Inode& inode = inodes_[number];
  inode.kind = kind;
  inode.modified = clock_->wall();
  return number;
}

// A file grows only within the capacity; one that does not grow can always be rewritten.
Result<void> FakeDisk::write(Number number, std::string_view bytes) {
  Inode& inode = inodes_.at(number);
  if (bytes.size() > inode.bytes.size()) {
    const std::size_t taken = used();
    const std::size_t more = bytes.size() - inode.bytes.size();
    if (taken > capacity_ || more > capacity_ - taken) return fail(Code::no_space, "no space left on the fake disk");
  }
  last_write_ = LastWrite{.inode = number, .before = inode.durable, .after = std::string(bytes)};
  inode.bytes = bytes;
  inode.modified = clock_->wall();
  return {};
}

void FakeDisk::sync(Number number) {
  Inode& inode = inodes_.at(number);
  inode.durable = inode.bytes;
  if (last_write_ && last_write_->inode == number) last_write_.reset();
}

void FakeDisk::sync_names(Number folder) {
  const auto ours = [folder](const auto& entry) { return entry.first.folder == folder; };
  // A folder that was moved away keeps its former name until the folder that it went to is synced.
  std::erase_if(durable_names_, [&](const auto& entry) {
    if (!ours(entry) || !is_folder(entry.second)) return ours(entry);
    const auto now = slot_of_folder(entry.second);
    return !now || now->folder == folder;
  });
  for (const auto& entry : names_) {
    if (!ours(entry)) continue;
    if (is_folder(entry.second)) {
      std::erase_if(durable_names_, [&](const auto& former) { return former.second == entry.second; });
    }
    durable_names_[entry.first] = entry.second;
  }
}

Result<void> FakeDisk::addable(const Slot& slot) const {
  if (slot.folder != kRoot && !slot_of_folder(slot.folder)) {
    return fail(Code::input_output, slot.name + ": the folder was removed");
  }
  if (names_.size() >= max_names_) return fail(Code::no_space, "no room for another name on the fake disk");
  return {};
}

Result<FakeDisk::Number> FakeDisk::create_file(const Slot& slot) {
  if (auto may = addable(slot); !may) return fail(may.error());
  const Number number = make_inode(Placed::file);
  names_[slot] = number;
  return number;
}

Result<void> FakeDisk::writable() const {
  if (read_only_) return fail(Code::read_only, "the fake disk is mounted read-only");
  return {};
}

Result<FakeDisk::Inode*> FakeDisk::usable(const Slot& slot) {
  Inode* inode = find(slot);
  if (inode == nullptr) return nullptr;
  const std::string& name = slot.name;
  switch (inode->kind) {
    case Placed::file:
      if (links_of(names_.at(slot)) <= most_links_) return inode;
      return fail(Code::damaged, name + " has more names than it may have, and may be changed under another");
    case Placed::unreadable:
      return fail(Code::not_permitted, name + ": permission denied");
    case Placed::fifo:
      return fail(Code::damaged, name + " is a FIFO, not a file");
    case Placed::directory:
      return fail(Code::damaged, name + " is a directory, not a file");
    case Placed::link:
      return fail(Code::damaged, name + " is a symbolic link, which is not followed");
    case Placed::foreign:
      return fail(Code::damaged, name + " belongs to another user");
  }
  return fail(Code::internal, "a placement that nobody knows");
}

void FakeDisk::notify(const Slot& slot) {
  for (auto& [id, pending] : watches_) {
    if (pending.folder == slot.folder) pending.names.insert(slot.name);
  }
  changed_.notify_all();
}

void FakeDisk::notify_folder(Number folder) {
  for (auto& [id, pending] : watches_) {
    if (pending.folder == folder) pending.everything = true;
  }
  changed_.notify_all();
}

void FakeDisk::notify_inode(Number inode, Number folder) {
  for (const auto& [slot, number] : names_) {
    if (number == inode && slot.folder == folder) notify(slot);
  }
  changed_.notify_all();
}

void FakeDisk::let_go(ProcessNumber process) {
  for (auto& [number, inode] : inodes_) {
    for (std::optional<Hold>* hold : {&inode.section, &inode.life}) {
      if (!*hold || (*hold)->processes.erase(process) == 0 || !(*hold)->processes.empty()) continue;
      const Number folder = (*hold)->folder;
      hold->reset();
      notify_inode(number, folder);
    }
  }
}

std::optional<FakeDisk::Hold>* FakeDisk::held_by(Inode& inode, Number id) {
  for (std::optional<Hold>* hold : {&inode.section, &inode.life}) {
    if (*hold && (*hold)->id == id) return hold;
  }
  return nullptr;
}

}  // namespace tenure::fakes
