// The two locks of a FakeDisk, as their holder has them.
#pragma once

#include "fakes/fake_disk.h"

namespace tenure::fakes {

// flock(2) on a lock file: ends with the object or with its process.
class FakeSectionLock final : public env::SectionLock {
 public:
  FakeSectionLock(std::shared_ptr<FakeDisk> disk, ProcessNumber process, std::shared_ptr<FaultPlan> faults,
                  std::uint64_t inode, std::uint64_t id, bool created)
      : disk_(std::move(disk)),
        process_(process),
        faults_(std::move(faults)),
        inode_(inode),
        id_(id),
        created_(created) {}
  ~FakeSectionLock() override;
  FakeSectionLock(const FakeSectionLock&) = delete;
  FakeSectionLock& operator=(const FakeSectionLock&) = delete;

  bool created() const override { return created_; }
  Result<std::string> read() override;
  Result<void> write(std::string_view bytes, bool durable) override;

 private:
  std::shared_ptr<FakeDisk> disk_;
  ProcessNumber process_;
  std::shared_ptr<FaultPlan> faults_;
  std::uint64_t inode_;
  std::uint64_t id_;
  bool created_;
};

// The open-file-description lock of a mapping: ends with the object, or with its process, unless a child shares it.
class FakeLifeLock final : public env::LifeLock {
 public:
  FakeLifeLock(std::shared_ptr<FakeDisk> disk, ProcessNumber process, std::uint64_t inode, std::uint64_t id,
               bool keep_descriptor);
  ~FakeLifeLock() override;
  FakeLifeLock(const FakeLifeLock&) = delete;
  FakeLifeLock& operator=(const FakeLifeLock&) = delete;

  FileIdentity identity() const override { return {.device = 1, .inode = inode_}; }
  int descriptor() const override { return descriptor_; }

 private:
  std::shared_ptr<FakeDisk> disk_;
  ProcessNumber process_;
  std::uint64_t inode_;
  std::uint64_t id_;
  int descriptor_ = -1;  // leads nowhere; it can be duplicated and closed like a real one
};

// The refusal of a section that somebody is inside of.
Error section_busy(const FakeWorld& world, const std::string& path, ProcessNumber inside);

}  // namespace tenure::fakes
