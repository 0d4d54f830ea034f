// The names of a FakeDisk: which thing lies under which name of which folder.
#include "fakes/fake_disk.h"

namespace tenure::fakes {

std::optional<FakeDisk::Slot> FakeDisk::slot_of(const Names& names, const std::string& path) {
  Slot slot{kRoot, path};
  for (std::size_t slash = slot.name.find('/'); slash != std::string::npos; slash = slot.name.find('/')) {
    auto folder = names.find({slot.folder, slot.name.substr(0, slash)});
    if (folder == names.end()) return std::nullopt;
    slot = {folder->second, slot.name.substr(slash + 1)};
  }
  return slot;
}

// As slot_of(), with the folders on the way, durably.
FakeDisk::Slot FakeDisk::make_way(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const Slot slot = *slot_of(names_, path.substr(0, slash));
    if (!names_.contains(slot)) {
      names_[slot] = make_inode(Placed::directory);
      notify(slot);
    }
    durable_names_[slot] = names_.at(slot);
  }
  return *slot_of(names_, path);
}

std::string FakeDisk::path_of(const Slot& slot) const {
  if (slot.folder == kRoot) return slot.name;
  const auto folder = slot_of_folder(slot.folder);
  return (folder ? path_of(*folder) : "a removed folder") + "/" + slot.name;
}

std::optional<FakeDisk::Number> FakeDisk::number(const Slot& slot) const {
  auto it = names_.find(slot);
  return it == names_.end() ? std::nullopt : std::optional(it->second);
}

FakeDisk::Inode* FakeDisk::find(const Slot& slot) {
  auto it = names_.find(slot);
  return it == names_.end() ? nullptr : &inodes_.at(it->second);
}

const FakeDisk::Inode* FakeDisk::find(const Slot& slot) const {
  auto it = names_.find(slot);
  return it == names_.end() ? nullptr : &inodes_.at(it->second);
}

FileIdentity FakeDisk::identity(const Slot& slot) const {
  auto it = names_.find(slot);
  return it == names_.end() ? FileIdentity{} : FileIdentity{.device = 1, .inode = it->second};
}

std::optional<FakeDisk::Slot> FakeDisk::slot_of_folder(Number folder) const {
  for (const auto& [slot, number] : names_) {
    if (number == folder) return slot;
  }
  return std::nullopt;
}

std::size_t FakeDisk::links_of(Number inode) const {
  std::size_t links = 0;
  for (const auto& [slot, number] : names_) links += number == inode ? 1 : 0;
  return links;
}

// Whether a folder is the outer one, or lies somewhere in it.
bool FakeDisk::is_within(Number folder, Number outer) const {
  std::optional<Slot> slot;
  for (; folder != outer; folder = slot->folder) {
    slot = slot_of_folder(folder);
    if (!slot) return false;
  }
  return true;
}

std::vector<std::string> FakeDisk::names_in(const Names& names, Number folder) {
  std::vector<std::string> all;
  for (auto it = names.lower_bound({folder, ""}); it != names.end() && it->first.folder == folder; ++it) {
    all.push_back(it->first.name);
  }
  return all;
}

// What cannot be reached from the outermost folder is gone.
void FakeDisk::forget_what_hangs_loose(Names& names) {
  std::set<Number> reached{kRoot};
  for (std::size_t former = 0; former != reached.size();) {
    former = reached.size();
    for (const auto& [slot, number] : names) {
      if (reached.contains(slot.folder)) reached.insert(number);
    }
  }
  std::erase_if(names, [&](const auto& entry) { return !reached.contains(entry.first.folder); });
}

std::size_t FakeDisk::used() const {
  std::set<Number> named;
  for (const auto& [slot, number] : names_) named.insert(number);
  std::size_t sum = 0;
  for (const Number number : named) sum += inodes_.at(number).bytes.size();
  return sum;
}

}  // namespace tenure::fakes
