// ScheduledDirectory: a folder of the fake disk as a party of a schedule has it: each call is a step of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/directory.h"
#include "receiver/explorer.h"

namespace tenure::tests {

class ScheduledDirectory final : public env::Directory {
 public:
  ScheduledDirectory(std::unique_ptr<env::Directory> inner, Schedule& schedule, Party& party, std::string place)
      : inner_(std::move(inner)), schedule_(schedule), party_(party), place_(std::move(place)) {}

  const std::string& path() const override { return inner_->path(); }
  Result<std::optional<env::FileContent>> read(const std::string& name, std::size_t most) override {
    return told(step("read", name, [&] { return inner_->read(name, most); }), [](const auto& content) {
      return content ? content->bytes + std::to_string(content->identity.inode) : std::string("nothing");
    });
  }
  Result<bool> remove(const std::string& name) override {
    return told(step("remove", name, [&] { return inner_->remove(name); }), truth);
  }
  Result<std::vector<std::string>> list(std::size_t most) override {
    return told(step("list", "", [&] { return inner_->list(most); }), [](const auto& names) {
      std::string all;
      for (const std::string& name : names) all += name + "\n";
      return all;
    });
  }
  env::LifeProbe probe_life(const std::string& name, std::optional<FileIdentity> expected) override {
    schedule_.step(party_, "probe " + place_ + name);
    const env::LifeProbe probe = inner_->probe_life(name, expected);
    fold(std::to_string(static_cast<int>(probe.sight)));
    return probe;
  }
  Result<env::Entry> look(const std::string& name) override {
    return told(step("look", name, [&] { return inner_->look(name); }), [](const auto& entry) {
      return std::to_string(static_cast<int>(entry.kind)) + "/" + std::to_string(entry.identity.inode);
    });
  }
  // Folders come with the scenario and stay: when they are opened makes no difference to anybody.
  Result<std::unique_ptr<env::Directory>> open_folder(const std::string& name) override {
    auto opened = inner_->open_folder(name);
    if (!opened || *opened == nullptr) return opened;
    return std::make_unique<ScheduledDirectory>(std::move(*opened), schedule_, party_, place_ + name + "/");
  }
  Result<bool> link(const std::string& from, env::Directory& into, const std::string& to) override {
    auto& target = dynamic_cast<ScheduledDirectory&>(into);
    return told(step("link", target.place_ + to, [&] { return inner_->link(from, *target.inner_, to); }), truth);
  }
  Result<env::Moved> move(const std::string& from, env::Directory& into, const std::string& to) override {
    auto& target = dynamic_cast<ScheduledDirectory&>(into);
    return told(
        step("move", from + " to " + target.place_ + to, [&] { return inner_->move(from, *target.inner_, to); }),
        [](env::Moved moved) { return std::to_string(static_cast<int>(moved)); });
  }
  Result<std::unique_ptr<env::Watch>> watch() override { return std::make_unique<Waits>(schedule_, party_); }

  // Not used inside the guard, so no steps.
  Result<void> replace(const std::string& name, const std::string& temporary, std::string_view bytes,
                       bool durable) override {
    return inner_->replace(name, temporary, bytes, durable);
  }
  Result<void> overwrite(const std::string& name, FileIdentity expected, std::string_view bytes,
                         bool durable) override {
    return inner_->overwrite(name, expected, bytes, durable);
  }
  Result<void> move_aside(const std::string& from, const std::string& to) override {
    return inner_->move_aside(from, to);
  }
  Result<void> sync() override { return inner_->sync(); }
  Result<std::unique_ptr<env::SectionLock>> lock(const std::string& name, Duration at_most, const Stop* stop) override {
    return inner_->lock(name, at_most, stop);
  }
  Result<std::unique_ptr<env::LifeLock>> take_life(const std::string& name, const std::string& temporary, bool fresh,
                                                   bool keep_descriptor) override {
    return inner_->take_life(name, temporary, fresh, keep_descriptor);
  }
  Result<bool> in_place() override { return inner_->in_place(); }
  Result<FileIdentity> identity() override { return inner_->identity(); }
  Result<bool> make_folder(const std::string& name) override { return inner_->make_folder(name); }
  Result<bool> remove_folder(const std::string& name) override { return inner_->remove_folder(name); }
  Result<bool> create(const std::string& name, std::string_view bytes, bool durable) override {
    return inner_->create(name, bytes, durable);
  }

 private:
  class Waits final : public env::Watch {
   public:
    Waits(Schedule& schedule, Party& party) : schedule_(schedule), party_(party) {}
    Result<Changes> wait(Duration /*at_most*/, const Stop* /*stop*/, int /*other*/) override {
      schedule_.wait(party_);
      if (schedule_.abandoned()) return fail(Code::internal, "abandoned");
      return Changes{};
    }

   private:
    Schedule& schedule_;
    Party& party_;
  };

  static std::string truth(bool value) { return value ? "yes" : "no"; }

  template <class Call>
  auto step(const std::string& call, const std::string& name, Call act) -> decltype(act()) {
    schedule_.step(party_, call + " " + place_ + name);
    if (schedule_.abandoned()) return fail(Code::internal, "abandoned");
    return act();
  }
  template <class Value, class Words>
  Result<Value> told(Result<Value> result, Words words) {
    fold(result ? words(*result) : result.error().message);
    return result;
  }
  void fold(const std::string& what) {
    party_.seen = party_.seen * 1'099'511'628'211U ^ std::hash<std::string>{}(party_.next + "=" + what);
  }

  std::unique_ptr<env::Directory> inner_;
  Schedule& schedule_;
  Party& party_;
  const std::string place_;
};

}  // namespace tenure::tests
