#include "fakes/fake_directory.h"

#include <functional>

#include "fakes/fake_locks.h"
#include "fakes/fake_watch.h"
#include "fakes/fault_call.h"
#include "fakes/patience.h"

namespace tenure::fakes {

namespace {

// One write of max(length, former length) bytes, the blanks before the final newline.
std::string padded_line(std::string_view bytes, std::size_t former) {
  std::string text(bytes);
  if (text.size() >= former) return text;
  const std::size_t blanks = former - text.size();
  const bool line = !text.empty() && text.back() == '\n';
  text.insert(line ? text.size() - 1 : text.size(), blanks, ' ');
  return text;
}

}  // namespace

Result<std::optional<env::FileContent>> FakeDirectory::read(const std::string& name, std::size_t max_bytes) {
  return call("read", [&]() -> Result<std::optional<env::FileContent>> {
    auto inode = disk_->usable(slot(name));
    if (!inode) return fail(inode.error());
    if (*inode == nullptr) return std::nullopt;
    if ((*inode)->bytes.size() > max_bytes) {
      return fail(Code::damaged, path_ + "/" + name + " has more than " + std::to_string(max_bytes) + " bytes");
    }
    return env::FileContent{
        .bytes = (*inode)->bytes, .identity = disk_->identity(slot(name)), .modified = (*inode)->modified};
  });
}

Result<void> FakeDirectory::write_temporary(const std::string& temporary, std::string_view bytes) {
  if (auto may = disk_->writable(); !may) return may;
  disk_->names_.erase(slot(temporary));
  auto number = disk_->create_file(slot(temporary));
  if (!number) return fail(number.error());
  return disk_->write(*number, bytes);
}

Result<void> FakeDirectory::rename(const std::string& temporary, const std::string& name) {
  const FakeDisk::Inode* target = disk_->find(slot(name));
  if (target != nullptr && target->kind == Placed::directory) {
    return fail(Code::damaged, path_ + "/" + name + " is a directory, not a file");
  }
  disk_->names_[slot(name)] = disk_->names_.at(slot(temporary));
  disk_->names_.erase(slot(temporary));
  disk_->notify(slot(name));
  return {};
}

// What is left of a replacement that failed. A dead process leaves it lying.
void FakeDirectory::discard(const std::string& temporary) {
  if (!disk_->world_->running(process_)) return;
  std::lock_guard lock(disk_->mutex_);
  disk_->names_.erase(slot(temporary));
}

Result<void> FakeDirectory::replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                                    bool durable) {
  auto done = call("replace.write", [&] { return write_temporary(temporary, bytes); });
  if (done && durable) {
    done = call("replace.sync", [&]() -> Result<void> {
      disk_->sync(disk_->names_.at(slot(temporary)));
      return {};
    });
  }
  if (done) done = call("replace.rename", [&] { return rename(temporary, name); });
  if (!done) discard(temporary);
  return done;
}

Result<void> FakeDirectory::overwrite(const std::string& name, FileIdentity expected, std::string_view bytes,
                                      bool durable) {
  auto done = call("overwrite.write", [&]() -> Result<void> {
    if (auto may = disk_->writable(); !may) return may;
    auto inode = disk_->usable(slot(name));
    if (!inode) return fail(inode.error());
    if (*inode == nullptr || disk_->identity(slot(name)) != expected) {
      return fail(Code::damaged, path_ + "/" + name + " is another file now");
    }
    auto written = disk_->write(expected.inode, padded_line(bytes, (*inode)->bytes.size()));
    if (written) disk_->notify(slot(name));
    return written;
  });
  if (done && durable) {
    done = call("overwrite.sync", [&]() -> Result<void> {
      disk_->sync(expected.inode);
      return {};
    });
  }
  return done;
}

Result<bool> FakeDirectory::remove(const std::string& name) {
  return call("remove", [&]() -> Result<bool> {
    if (auto may = disk_->writable(); !may) return fail(may.error());
    const FakeDisk::Inode* inode = disk_->find(slot(name));
    if (inode == nullptr) return false;
    if (inode->kind == Placed::directory) return fail(Code::damaged, path_ + "/" + name + " is a directory");
    disk_->names_.erase(slot(name));
    disk_->notify(slot(name));
    return true;
  });
}

Result<void> FakeDirectory::move_aside(const std::string& from, const std::string& to) {
  return call("move_aside", [&]() -> Result<void> {
    if (auto may = disk_->writable(); !may) return may;
    if (disk_->find(slot(to)) != nullptr) return fail(Code::damaged, path_ + "/" + to + " is there already");
    auto it = disk_->names_.find(slot(from));
    if (it == disk_->names_.end()) return fail(Code::input_output, path_ + "/" + from + ": no such file");
    disk_->names_[slot(to)] = it->second;
    disk_->names_.erase(slot(from));
    disk_->notify_folder(disk_->names_.at(slot(to)));
    disk_->notify(slot(from));
    disk_->notify(slot(to));
    return {};
  });
}

Result<void> FakeDirectory::sync() {
  return call("sync", [&]() -> Result<void> {
    disk_->sync_names(folder_);
    return {};
  });
}

Result<std::vector<std::string>> FakeDirectory::list(std::size_t max_names) {
  return call("list", [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> all = FakeDisk::names_in(disk_->names_, folder_);
    if (all.size() > max_names) {
      return fail(Code::limit_reached, path_ + " has more than " + std::to_string(max_names) + " names");
    }
    return all;
  });
}

Result<std::unique_ptr<env::SectionLock>> FakeDirectory::lock_now(std::unique_lock<std::mutex>& lock,
                                                                  const std::string& name, Duration at_most,
                                                                  const Stop* stop) {
  const FakeDisk::Hold* holder = nullptr;
  std::optional<Error> refused;
  bool created = false;
  // A name may lead to another file after each wait, so it is looked up anew.
  const auto free_at_last = [&] {
    if (!disk_->world_->running(process_)) return true;
    auto inode = disk_->usable(slot(name));
    if (!inode) {
      refused = inode.error();
      return true;
    }
    if (*inode == nullptr) {
      auto may = disk_->writable();
      auto made = may ? disk_->create_file(slot(name)) : Result<FakeDisk::Number>(fail(may.error()));
      if (!made) refused = made.error();
      created = made.has_value();
      return true;
    }
    holder = (*inode)->section ? &*(*inode)->section : nullptr;
    return holder == nullptr;
  };
  const Ended ended = wait_on(lock, disk_->changed_, *disk_->clock_, at_most, stop, free_at_last);
  if (refused) return fail(*refused);
  if (!disk_->world_->running(process_)) return fail(dead_process());
  if (ended != Ended::ready) return fail(section_busy(*disk_->world_, path_ + "/" + name, *holder->processes.begin()));
  if (created) disk_->notify(slot(name));
  const FakeDisk::Number id = disk_->next_++;
  const FakeDisk::Number inode = disk_->names_.at(slot(name));
  disk_->inodes_.at(inode).section = FakeDisk::Hold{.id = id, .processes = {process_}, .folder = folder_};
  return std::make_unique<FakeSectionLock>(disk_, process_, faults_, inode, id, created);
}

Result<std::unique_ptr<env::SectionLock>> FakeDirectory::lock(const std::string& name, Duration at_most,
                                                              const Stop* stop) {
  return counted_call(*disk_->world_, process_, *faults_, "lock", [&] {
    std::unique_lock lock(disk_->mutex_);
    return lock_now(lock, name, at_most, stop);
  });
}

Result<std::unique_ptr<env::LifeLock>> FakeDirectory::take_life_now(const std::string& name,
                                                                    const std::string& temporary, bool fresh,
                                                                    bool keep_descriptor) {
  if (auto may = disk_->writable(); !may) return fail(may.error());
  auto present = disk_->usable(slot(name));
  if (fresh) {
    disk_->names_.erase(slot(temporary));
    auto made = disk_->create_file(slot(temporary));
    if (!made) return fail(made.error());
    if (auto renamed = rename(temporary, name); !renamed) {
      disk_->names_.erase(slot(temporary));
      return fail(renamed.error());
    }
  } else if (!present) {
    return fail(present.error());
  } else if (*present == nullptr) {
    auto made = disk_->create_file(slot(name));
    if (!made) return fail(made.error());
    disk_->notify(slot(name));
  } else if ((*present)->life) {
    return fail(Code::held, path_ + "/" + name + " is locked by a living process");
  }
  const FakeDisk::Number id = disk_->next_++;
  const FakeDisk::Number inode = disk_->names_.at(slot(name));
  disk_->inodes_.at(inode).life = FakeDisk::Hold{.id = id, .processes = {process_}, .folder = folder_};
  return std::make_unique<FakeLifeLock>(disk_, process_, inode, id, keep_descriptor);
}

Result<std::unique_ptr<env::LifeLock>> FakeDirectory::take_life(const std::string& name, const std::string& temporary,
                                                                bool fresh, bool keep_descriptor) {
  return call("take_life", [&] { return take_life_now(name, temporary, fresh, keep_descriptor); });
}

env::LifeProbe FakeDirectory::probe_life(const std::string& name, std::optional<FileIdentity> expected) {
  auto probed = call("probe_life", [&]() -> Result<env::LifeProbe> {
    env::LifeProbe probe;
    auto inode = disk_->usable(slot(name));
    probe.identity = disk_->identity(slot(name));
    if (!inode) return probe;
    if (*inode == nullptr) {
      probe.sight = LifeSight::absent;
    } else if (expected && *expected != probe.identity) {
      probe.sight = LifeSight::other_file;
    } else {
      probe.sight = (*inode)->life ? LifeSight::held : LifeSight::free;
    }
    return probe;
  });
  return probed.value_or(env::LifeProbe{});
}

Result<std::unique_ptr<env::Watch>> FakeDirectory::watch() {
  return call("watch", [&]() -> Result<std::unique_ptr<env::Watch>> {
    if (disk_->no_watches_) return std::make_unique<FakeWatch>(disk_, process_, std::nullopt);
    const FakeDisk::Number id = disk_->next_++;
    disk_->watches_[id].folder = folder_;
    return std::make_unique<FakeWatch>(disk_, process_, id);
  });
}

Result<bool> FakeDirectory::in_place() {
  return call("in_place", [&]() -> Result<bool> {
    if (folder_ == FakeDisk::kRoot) return disk_->in_place_;
    const auto here = FakeDisk::slot_of(disk_->names_, below_);
    return disk_->in_place_ && here && disk_->number(*here) == folder_;
  });
}

}  // namespace tenure::fakes
