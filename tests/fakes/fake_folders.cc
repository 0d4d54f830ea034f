// Folders in a folder of a FakeDisk, and what moves and links between them: the second half of FakeDirectory.
#include "fakes/fake_directory.h"

namespace tenure::fakes {

using env::EntryKind;
using env::Moved;

namespace {

EntryKind entry_kind(Placed kind) {
  switch (kind) {
    case Placed::file:
    case Placed::foreign:
    case Placed::unreadable:
      return EntryKind::file;
    case Placed::directory:
      return EntryKind::folder;
    case Placed::fifo:
    case Placed::link:
      return EntryKind::other;
  }
  return EntryKind::other;
}

}  // namespace

Result<env::Entry> FakeDirectory::look(const std::string& name) {
  return call("look", [&]() -> Result<env::Entry> {
    const FakeDisk::Inode* inode = disk_->find(slot(name));
    if (inode == nullptr) return env::Entry{};
    return env::Entry{
        .kind = entry_kind(inode->kind), .identity = disk_->identity(slot(name)), .modified = inode->modified};
  });
}

Result<std::unique_ptr<env::Directory>> FakeDirectory::open_folder(const std::string& name) {
  return call("open_folder", [&]() -> Result<std::unique_ptr<env::Directory>> {
    const auto number = disk_->number(slot(name));
    if (!number) return nullptr;
    if (!disk_->is_folder(*number)) return fail(Code::damaged, path_ + "/" + name + " is no folder");
    return std::unique_ptr<env::Directory>(new FakeDirectory(*this, *number, name));
  });
}

Result<FileIdentity> FakeDirectory::identity() {
  if (!disk_->world_->running(process_)) return fail(dead_process());
  return FileIdentity{.device = 1, .inode = folder_};
}

Result<bool> FakeDirectory::make_folder(const std::string& name) {
  return call("make_folder", [&]() -> Result<bool> {
    if (disk_->find(slot(name)) != nullptr) return false;
    if (auto may = disk_->writable(); !may) return fail(may.error());
    if (auto may = disk_->addable(slot(name)); !may) return fail(may.error());
    disk_->names_[slot(name)] = disk_->make_inode(Placed::directory);
    disk_->notify(slot(name));
    return true;
  });
}

Result<bool> FakeDirectory::remove_folder(const std::string& name) {
  return call("remove_folder", [&]() -> Result<bool> {
    const auto number = disk_->number(slot(name));
    if (!number) return false;
    if (!disk_->is_folder(*number)) return fail(Code::damaged, path_ + "/" + name + " is not a folder");
    if (!FakeDisk::names_in(disk_->names_, *number).empty()) {
      return fail(Code::damaged, path_ + "/" + name + " is not empty");
    }
    if (auto may = disk_->writable(); !may) return fail(may.error());
    disk_->names_.erase(slot(name));
    disk_->notify_folder(*number);
    disk_->notify(slot(name));
    return true;
  });
}

Result<bool> FakeDirectory::create(const std::string& name, std::string_view bytes, bool durable) {
  std::optional<FakeDisk::Number> made;
  auto done = call("create.write", [&]() -> Result<bool> {
    if (disk_->find(slot(name)) != nullptr) return false;
    if (auto may = disk_->writable(); !may) return fail(may.error());
    auto number = disk_->create_file(slot(name));
    if (!number) return fail(number.error());
    made = *number;
    disk_->notify(slot(name));
    if (auto written = disk_->write(*number, bytes); !written) return fail(written.error());
    return true;
  });
  if (done && *done && durable) {
    done = call("create.sync", [&]() -> Result<bool> {
      disk_->sync(*made);
      return true;
    });
  }
  // Nobody reads that name yet, so that it is still ours. A dead process leaves it lying.
  if (!done && made) discard(name);
  return done;
}

const FakeDirectory* FakeDirectory::reach(const env::Directory& into) const {
  const auto* other = dynamic_cast<const FakeDirectory*>(&into);
  return other != nullptr && other->disk_ == disk_ ? other : nullptr;
}

Result<bool> FakeDirectory::link_now(const FakeDisk::Slot& from, const FakeDisk::Slot& to) {
  const FakeDisk::Inode* inode = disk_->find(from);
  if (inode == nullptr) return fail(Code::damaged, path_ + "/" + from.name + " is not there any more");
  if (entry_kind(inode->kind) != EntryKind::file) return fail(Code::damaged, path_ + "/" + from.name + " is no file");
  if (disk_->find(to) != nullptr) return false;
  if (auto may = disk_->writable(); !may) return fail(may.error());
  if (auto may = disk_->addable(to); !may) return fail(may.error());
  disk_->names_[to] = *disk_->number(from);
  disk_->notify(to);
  return true;
}

Result<bool> FakeDirectory::link(const std::string& from, env::Directory& into, const std::string& to) {
  const FakeDirectory* target = reach(into);
  if (target == nullptr) return fail(Code::internal, "a folder of another kind: " + into.path());
  return call("link", [&] { return link_now(slot(from), target->slot(to)); });
}

Result<Moved> FakeDirectory::move_now(const FakeDisk::Slot& from, const FakeDisk::Slot& to) {
  const auto number = disk_->number(from);
  if (!number) return Moved::missing;
  if (disk_->find(to) != nullptr) return Moved::taken;
  if (auto may = disk_->writable(); !may) return fail(may.error());
  if (to.folder != FakeDisk::kRoot && !disk_->slot_of_folder(to.folder)) {
    return fail(Code::input_output, to.name + ": the folder was removed");
  }
  if (disk_->is_within(to.folder, *number)) return fail(Code::input_output, "a folder cannot be moved into itself");
  disk_->names_.erase(from);
  disk_->names_[to] = *number;
  disk_->notify_folder(*number);
  disk_->notify(from);
  disk_->notify(to);
  return Moved::moved;
}

Result<Moved> FakeDirectory::move(const std::string& from, env::Directory& into, const std::string& to) {
  const FakeDirectory* target = reach(into);
  if (target == nullptr) return fail(Code::internal, "a folder of another kind: " + into.path());
  return call("move", [&] { return move_now(slot(from), target->slot(to)); });
}

}  // namespace tenure::fakes
