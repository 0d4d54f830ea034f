// Party: one contender for an id, be it AgentMux or ours, so that one test can be run over every pairing of the two.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "files/agentmux.h"
#include "files/files_world.h"

namespace tenure::tests {

class Party {
 public:
  using Lease = AgentMux::Lease;
  using Holder = AgentMux::Holder;

  virtual ~Party() = default;
  virtual std::optional<Lease> claim(const std::string& id, const std::string& block = "block-1") = 0;
  virtual bool verify(const Lease& lease) = 0;
  virtual bool renew(const Lease& lease) = 0;
  // True when it took a lease of its own away.
  virtual bool release(const Lease& lease) = 0;
  // Who holds it, if that is somebody else and a claim would be refused; empty fields: nobody can be named.
  virtual std::optional<Holder> lookup(const std::string& id) = 0;
  // Of the last refusal.
  virtual Holder refused_by() const = 0;

  fakes::ProcessNumber number{};
  std::string boot;
};

// The boot label names the process, as AgentMux has it.
class AgentMuxParty final : public Party {
 public:
  AgentMuxParty(FilesWorld& world, const std::string& label, const fakes::Birth& birth,
                AgentMux::Shape shape = AgentMux::Shape::third)
      : AgentMuxParty(world, label, world.world->spawn(birth), shape) {}
  AgentMuxParty(FilesWorld& world, const std::string& label, fakes::ProcessNumber process, AgentMux::Shape shape)
      : store_(world.disk->open(process), {world.clock, nullptr, world.world->view(process)}, shape) {
    number = process;
    boot = label;
  }

  std::optional<Lease> claim(const std::string& id, const std::string& block) override {
    return store_.claim(id, boot, block);
  }
  bool verify(const Lease& lease) override { return store_.verify(lease); }
  bool renew(const Lease& lease) override { return store_.renew(lease); }
  bool release(const Lease& lease) override { return store_.release(lease); }
  std::optional<Holder> lookup(const std::string& id) override { return store_.live_holder_other_than(id, boot); }
  Holder refused_by() const override { return store_.refused_by(); }

 private:
  AgentMux store_;
};

class OurParty final : public Party {
 public:
  OurParty(FilesWorld& world, const std::string& label, const fakes::Birth& birth) : client_(world.client(birth)) {
    number = client_.number;
    boot = label;
  }

  Engine& engine() { return *client_.engine; }
  // Of the last call that failed.
  const std::optional<Error>& error() const { return error_; }

  std::optional<Lease> claim(const std::string& id, const std::string& block) override {
    ClaimRequest wanted = request(id, boot, block);
    wanted.channel = "stable";
    wanted.version = "0.44.2";
    auto grant = engine().try_claim(wanted);
    if (!noted(grant)) return std::nullopt;
    return Lease{id, boot, block, grant->claim.text(), grant->epoch.value()};
  }
  bool verify(const Lease& lease) override { return noted(engine().verify(ref(lease))); }
  bool renew(const Lease& lease) override { return noted(engine().beat(ref(lease))); }
  bool release(const Lease& lease) override {
    auto released = engine().release(ref(lease));
    return noted(released) && released->released;
  }
  std::optional<Holder> lookup(const std::string& id) override {
    auto seen = engine().holder(key(id));
    if (!noted(seen) || seen->state == State::free || seen->claimable) return std::nullopt;
    if (!seen->holder) return Holder{};
    if (seen->holder->owner == boot) return std::nullopt;
    return shown(*seen->holder);
  }
  Holder refused_by() const override {
    return error_ && error_->holder && error_->holder->holder ? shown(*error_->holder->holder) : Holder{};
  }

 private:
  static ClaimRef ref(const Lease& lease) {
    return {key(lease.id), ClaimId::parse(lease.claim).value(), Epoch(lease.epoch)};
  }
  static Holder shown(const tenure::Holder& holder) {
    return {holder.owner, holder.part, static_cast<std::uint32_t>(holder.process.pid), holder.channel, holder.version};
  }
  template <class T>
  bool noted(const Result<T>& result) {
    error_ = result ? std::nullopt : std::optional(result.error());
    return result.has_value();
  }

  FilesClient client_;
  std::optional<Error> error_;
};

inline std::unique_ptr<Party> make_party(bool agentmux, FilesWorld& world, const std::string& label,
                                         const fakes::Birth& birth = {}) {
  if (agentmux) return std::make_unique<AgentMuxParty>(world, label, birth);
  return std::make_unique<OurParty>(world, label, birth);
}

}  // namespace tenure::tests
