// MortalDirectory: a real folder as a fake process has it open: when the process is killed, its life locks are let go
// and every later call fails, as those of a dead process would never come.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "env/directory.h"

namespace tenure::conformance {

class MortalDirectory final : public env::Directory {
 public:
  explicit MortalDirectory(std::unique_ptr<env::Directory> inner) : inner_(std::move(inner)) {}

  void kill() {
    std::lock_guard lock(mutex_);
    dead_ = true;
    for (auto& weak : locks_) {
      if (auto alive = weak.lock()) alive->inner.reset();
    }
    for (auto& weak : sections_) {
      if (auto alive = weak.lock()) alive->leave();
    }
  }

  const std::string& path() const override { return inner_->path(); }
  Result<std::optional<env::FileContent>> read(const std::string& name, std::size_t max_bytes) override {
    return alive([&] { return inner_->read(name, max_bytes); });
  }
  Result<void> replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                       bool durable) override {
    return alive([&] { return inner_->replace(name, temporary, bytes, durable); });
  }
  Result<void> overwrite(const std::string& name, FileIdentity expected, std::string_view bytes,
                         bool durable) override {
    return alive([&] { return inner_->overwrite(name, expected, bytes, durable); });
  }
  Result<bool> remove(const std::string& name) override {
    return alive([&] { return inner_->remove(name); });
  }
  Result<void> move_aside(const std::string& from, const std::string& to) override {
    return alive([&] { return inner_->move_aside(from, to); });
  }
  Result<void> sync() override {
    return alive([&] { return inner_->sync(); });
  }
  Result<std::vector<std::string>> list(std::size_t max_names) override {
    return alive([&] { return inner_->list(max_names); });
  }
  Result<std::unique_ptr<env::SectionLock>> lock(const std::string& name, Duration at_most, const Stop* stop) override {
    auto taken = alive([&] { return inner_->lock(name, at_most, stop); });
    if (!taken) return taken;
    auto shared = std::make_shared<Section>(std::move(*taken));
    std::lock_guard lock(mutex_);
    sections_.push_back(shared);
    return std::unique_ptr<env::SectionLock>(std::make_unique<SectionHolder>(std::move(shared)));
  }
  Result<std::unique_ptr<env::LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                   bool keep_descriptor) override {
    auto taken = alive([&] { return inner_->take_life(name, temporary, fresh, keep_descriptor); });
    if (!taken) return taken;
    auto shared = std::make_shared<Lock>(Lock{std::move(*taken)});
    std::lock_guard lock(mutex_);
    locks_.push_back(shared);
    return std::unique_ptr<env::LifeLock>(std::make_unique<Holder>(std::move(shared)));
  }
  env::LifeProbe probe_life(const std::string& name, std::optional<FileIdentity> expected) override {
    return inner_->probe_life(name, expected);
  }
  Result<std::unique_ptr<env::Watch>> watch() override {
    return alive([&] { return inner_->watch(); });
  }
  Result<bool> in_place() override {
    return alive([&] { return inner_->in_place(); });
  }

 private:
  struct Lock {
    std::unique_ptr<env::LifeLock> inner;
  };
  class Holder final : public env::LifeLock {
   public:
    explicit Holder(std::shared_ptr<Lock> lock) : lock_(std::move(lock)), identity_(lock_->inner->identity()) {}
    FileIdentity identity() const override { return identity_; }
    int descriptor() const override { return lock_->inner ? lock_->inner->descriptor() : -1; }

   private:
    std::shared_ptr<Lock> lock_;
    FileIdentity identity_;
  };

  struct Section {
    explicit Section(std::unique_ptr<env::SectionLock> taken) : inner(std::move(taken)) {}
    void leave() {
      std::lock_guard lock(mutex);
      inner.reset();
    }
    std::unique_ptr<env::SectionLock> inner;
    std::mutex mutex;
  };
  class SectionHolder final : public env::SectionLock {
   public:
    explicit SectionHolder(std::shared_ptr<Section> section)
        : section_(std::move(section)), created_(section_->inner->created()) {}
    bool created() const override { return created_; }
    Result<std::string> read() override {
      std::lock_guard lock(section_->mutex);
      if (!section_->inner) return fail(Code::internal, "this process was killed");
      return section_->inner->read();
    }
    Result<void> write(std::string_view bytes, bool durable) override {
      std::lock_guard lock(section_->mutex);
      if (!section_->inner) return fail(Code::internal, "this process was killed");
      return section_->inner->write(bytes, durable);
    }

   private:
    std::shared_ptr<Section> section_;
    bool created_;
  };

  template <class Call>
  auto alive(Call call) -> decltype(call()) {
    {
      std::lock_guard lock(mutex_);
      if (dead_) return fail(Code::internal, "this process was killed");
    }
    return call();
  }

  std::unique_ptr<env::Directory> inner_;
  std::mutex mutex_;
  bool dead_ = false;
  std::vector<std::weak_ptr<Lock>> locks_;
  std::vector<std::weak_ptr<Section>> sections_;
};

}  // namespace tenure::conformance
