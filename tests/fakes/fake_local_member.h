// FakeLocalMember: env::LocalFolder as one fake process has it on a FakeLocalStore. Made by FakeLocalStore::open.
#pragma once

#include <set>

#include "fakes/fake_local_folder.h"

namespace tenure::fakes {

class FakeLocalMember final : public env::LocalFolder {
 public:
  FakeLocalMember(std::shared_ptr<FakeLocalStore> store, ProcessNumber process, std::uint64_t id,
                  std::shared_ptr<FaultPlan> faults, std::unique_ptr<env::Directory> directory)
      : store_(std::move(store)),
        process_(process),
        id_(id),
        faults_(std::move(faults)),
        directory_(std::move(directory)) {}
  ~FakeLocalMember() override;
  FakeLocalMember(const FakeLocalMember&) = delete;
  FakeLocalMember& operator=(const FakeLocalMember&) = delete;

  const std::string& path() const override { return directory_->path(); }
  env::Directory& directory() override { return *directory_; }
  Birth birth() const override;

  Result<void> enter(Duration at_most) override;
  Result<bool> enter_alone() override;
  Result<void> let_others_in() override;
  void leave() noexcept override;
  FileIdentity lock_file() const override;
  Result<bool> lock_in_place() const override;

  Result<std::unique_ptr<env::SharedMemory>> map_table(std::size_t at_least, std::size_t bytes) override;
  Result<std::unique_ptr<env::SharedMemory>> make_table(std::size_t allocated, std::size_t bytes,
                                                        const std::function<void(std::byte*)>& fill) override;
  Result<bool> in_place(const env::SharedMemory& table) const override;

  Result<bool> take_byte(std::uint64_t byte) override;
  void drop_byte(std::uint64_t byte) noexcept override;
  ByteSight probe_byte(std::uint64_t byte) const override;
  Result<std::unique_ptr<env::PassedByte>> pass_byte(std::uint64_t byte) override;

  Result<void> start_keeper(env::KeeperJob job) override;
  void stop_keeper() noexcept override;

 private:
  // Runs one counted call under the store's lock, with the fault that was planned for it.
  template <class Effect>
  auto call(const char* name, Effect effect) const -> decltype(effect());
  // The same for what cannot fail.
  template <class Effect>
  void call_surely(const char* name, Effect effect) const noexcept;

  FakeLocalStore::Entry& entry() const { return store_->entries_.at(id_); }
  Result<void> enter_now(std::unique_lock<std::mutex>& lock, Duration at_most);
  Result<void> lock_byte(std::uint64_t byte, FakeLocalStore::ByteHold hold);
  Result<std::unique_ptr<env::SharedMemory>> mapped(const std::shared_ptr<FakeTable>& table, std::size_t bytes);

  std::shared_ptr<FakeLocalStore> store_;
  const ProcessNumber process_;
  const std::uint64_t id_;
  const std::shared_ptr<FaultPlan> faults_;
  const std::unique_ptr<env::Directory> directory_;
};

}  // namespace tenure::fakes
