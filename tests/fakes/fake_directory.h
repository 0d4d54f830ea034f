// FakeDirectory: env::Directory as one fake process has it on a FakeDisk. Made by FakeDisk::open.
//
// A process that is dead gets Code::internal from every call and changes nothing more: an engine may be dropped after
// its process was killed, and what its destructors do is what a dead process does.
#pragma once

#include "fakes/fake_disk.h"
#include "fakes/fault_call.h"

namespace tenure::fakes {

class FakeDirectory final : public env::Directory {
 public:
  // The outermost folder of the disk.
  FakeDirectory(std::shared_ptr<FakeDisk> disk, ProcessNumber process, std::shared_ptr<FaultPlan> faults)
      : disk_(std::move(disk)), process_(process), faults_(std::move(faults)) {}

  const std::string& path() const override { return path_; }
  Result<std::optional<env::FileContent>> read(const std::string& name, std::size_t max_bytes) override;
  Result<void> replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                       bool durable) override;
  Result<void> overwrite(const std::string& name, FileIdentity expected, std::string_view bytes, bool durable) override;
  Result<bool> remove(const std::string& name) override;
  Result<void> move_aside(const std::string& from, const std::string& to) override;
  Result<void> sync() override;
  Result<std::vector<std::string>> list(std::size_t max_names) override;
  Result<std::unique_ptr<env::SectionLock>> lock(const std::string& name, Duration at_most, const Stop* stop) override;
  Result<std::unique_ptr<env::LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                   bool keep_descriptor) override;
  env::LifeProbe probe_life(const std::string& name, std::optional<FileIdentity> expected) override;
  Result<std::unique_ptr<env::Watch>> watch() override;
  Result<bool> in_place() override;
  // In fake_folders.cc:
  Result<env::Entry> look(const std::string& name) override;
  Result<std::unique_ptr<env::Directory>> open_folder(const std::string& name) override;
  Result<FileIdentity> identity() override;
  Result<bool> make_folder(const std::string& name) override;
  Result<bool> remove_folder(const std::string& name) override;
  Result<bool> create(const std::string& name, std::string_view bytes, bool durable) override;
  Result<bool> link(const std::string& from, env::Directory& into, const std::string& to) override;
  Result<env::Moved> move(const std::string& from, env::Directory& into, const std::string& to) override;

 private:
  friend class FakeSectionLock;

  FakeDirectory(const FakeDirectory& outer, FakeDisk::Number folder, const std::string& name)
      : disk_(outer.disk_),
        process_(outer.process_),
        faults_(outer.faults_),
        folder_(folder),
        below_(outer.below_.empty() ? name : outer.below_ + "/" + name),
        path_(outer.path_ + "/" + name) {}

  // Runs one counted call under the lock of the disk, with the fault that was planned for it.
  template <class Effect>
  auto call(const char* name, Effect effect) -> decltype(effect()) {
    return counted_call(*disk_->world_, process_, *faults_, name, [&] {
      std::unique_lock lock(disk_->mutex_);
      // Once more, under the lock: what a dead process held was let go of already.
      if (!disk_->world_->running(process_)) return decltype(effect())(fail(dead_process()));
      return effect();
    });
  }

  FakeDisk::Slot slot(const std::string& name) const { return {folder_, name}; }
  // The directory that a link or a move leads into; nullptr where it is not one of this disk.
  const FakeDirectory* reach(const env::Directory& into) const;
  Result<bool> link_now(const FakeDisk::Slot& from, const FakeDisk::Slot& to);
  Result<env::Moved> move_now(const FakeDisk::Slot& from, const FakeDisk::Slot& to);

  Result<void> write_temporary(const std::string& temporary, std::string_view bytes);
  Result<void> rename(const std::string& temporary, const std::string& name);
  void discard(const std::string& temporary);
  Result<std::unique_ptr<env::SectionLock>> lock_now(std::unique_lock<std::mutex>& lock, const std::string& name,
                                                     Duration at_most, const Stop* stop);
  Result<std::unique_ptr<env::LifeLock>> take_life_now(const std::string& name, const std::string& temporary,
                                                       bool fresh, bool keep_descriptor);

  std::shared_ptr<FakeDisk> disk_;
  ProcessNumber process_;
  std::shared_ptr<FaultPlan> faults_;
  FakeDisk::Number folder_ = FakeDisk::kRoot;
  std::string below_;  // by which path it was opened, from the outermost folder
  std::string path_ = "/fake/space";
};

}  // namespace tenure::fakes
