// MortalDirectory: a real folder as a fake process has it open, and the folders in it that it opens from there: when
// the process is killed, its life locks are let go and every later call fails, as those of a dead process would never
// come.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "env/directory.h"

namespace tenure::conformance {

class MortalDirectory final : public env::Directory {
 public:
  explicit MortalDirectory(std::unique_ptr<env::Directory> inner)
      : MortalDirectory(std::move(inner), std::make_shared<Life>()) {}

  // Of the whole process: also of the folders that were opened from this one, or from which it was.
  void kill() { life_->end(); }

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
    const bool created = (*taken)->created();
    auto shared = std::make_shared<Section>(std::move(*taken));
    life_->add(shared);
    return std::unique_ptr<env::SectionLock>(std::make_unique<SectionHolder>(std::move(shared), created));
  }
  Result<std::unique_ptr<env::LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                   bool keep_descriptor) override {
    auto taken = alive([&] { return inner_->take_life(name, temporary, fresh, keep_descriptor); });
    if (!taken) return taken;
    const FileIdentity identity = (*taken)->identity();
    auto shared = std::make_shared<Lock>(std::move(*taken));
    life_->add(shared);
    return std::unique_ptr<env::LifeLock>(std::make_unique<Holder>(std::move(shared), identity));
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
  Result<env::Entry> look(const std::string& name) override {
    return alive([&] { return inner_->look(name); });
  }
  Result<std::unique_ptr<env::Directory>> open_folder(const std::string& name) override {
    auto opened = alive([&] { return inner_->open_folder(name); });
    if (!opened || *opened == nullptr) return opened;
    return std::unique_ptr<env::Directory>(new MortalDirectory(std::move(*opened), life_));
  }
  Result<FileIdentity> identity() override {
    return alive([&] { return inner_->identity(); });
  }
  Result<bool> make_folder(const std::string& name) override {
    return alive([&] { return inner_->make_folder(name); });
  }
  Result<bool> remove_folder(const std::string& name) override {
    return alive([&] { return inner_->remove_folder(name); });
  }
  Result<bool> create(const std::string& name, std::string_view bytes, bool durable) override {
    return alive([&] { return inner_->create(name, bytes, durable); });
  }
  Result<bool> link(const std::string& from, env::Directory& into, const std::string& to) override {
    return alive([&] { return inner_->link(from, inside(into), to); });
  }
  Result<env::Moved> move(const std::string& from, env::Directory& into, const std::string& to) override {
    return alive([&] { return inner_->move(from, inside(into), to); });
  }

 private:
  // A lock of the process. Let go when its holder is done with it, or when the process dies.
  template <class Kind>
  struct Held {
    explicit Held(std::unique_ptr<Kind> taken) : inner(std::move(taken)) {}
    void let_go() {
      std::lock_guard lock(mutex);
      inner.reset();
    }
    std::mutex mutex;
    std::unique_ptr<Kind> inner;
  };
  using Lock = Held<env::LifeLock>;
  using Section = Held<env::SectionLock>;

  // What all folders of a process share.
  class Life {
   public:
    void end() {
      std::lock_guard lock(mutex_);
      over_ = true;
      for (auto& weak : locks_) {
        if (auto still = weak.lock()) still->let_go();
      }
      for (auto& weak : sections_) {
        if (auto still = weak.lock()) still->let_go();
      }
    }
    bool over() {
      std::lock_guard lock(mutex_);
      return over_;
    }
    void add(const std::shared_ptr<Lock>& lock) { add_to(locks_, lock); }
    void add(const std::shared_ptr<Section>& section) { add_to(sections_, section); }

   private:
    template <class Kind>
    void add_to(std::vector<std::weak_ptr<Kind>>& all, const std::shared_ptr<Kind>& one) {
      std::lock_guard lock(mutex_);
      if (over_) one->let_go();  // killed while it was taken
      all.push_back(one);
    }

    std::mutex mutex_;
    bool over_ = false;
    std::vector<std::weak_ptr<Lock>> locks_;
    std::vector<std::weak_ptr<Section>> sections_;
  };

  class Holder final : public env::LifeLock {
   public:
    Holder(std::shared_ptr<Lock> lock, FileIdentity identity) : lock_(std::move(lock)), identity_(identity) {}
    FileIdentity identity() const override { return identity_; }
    int descriptor() const override {
      std::lock_guard lock(lock_->mutex);
      return lock_->inner ? lock_->inner->descriptor() : -1;
    }

   private:
    std::shared_ptr<Lock> lock_;
    FileIdentity identity_;
  };

  class SectionHolder final : public env::SectionLock {
   public:
    SectionHolder(std::shared_ptr<Section> section, bool created) : section_(std::move(section)), created_(created) {}
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
    if (life_->over()) return fail(Code::internal, "this process was killed");
    return call();
  }

  MortalDirectory(std::unique_ptr<env::Directory> inner, std::shared_ptr<Life> life)
      : inner_(std::move(inner)), life_(std::move(life)) {}

  // The folder of the disk behind one of this kind.
  static env::Directory& inside(env::Directory& directory) {
    auto* mortal = dynamic_cast<MortalDirectory*>(&directory);
    return mortal == nullptr ? directory : *mortal->inner_;
  }

  std::unique_ptr<env::Directory> inner_;
  std::shared_ptr<Life> life_;
};

}  // namespace tenure::conformance
