// The local engine in the suite: members are threads of this program over one table.
#include "conformance/conformance.h"
#include "engine/local/check.h"
#include "engine/local/local.h"
#include "fakes/fake_local_folder.h"

namespace tenure::conformance {
namespace {

// All members run on one kernel: what the suite calls another machine is a container with a machine id of its own.
class OneKernel final : public env::Processes {
 public:
  OneKernel(std::shared_ptr<const env::Processes> inner, const std::string& boot_id) : inner_(std::move(inner)) {
    self_ = inner_->self();
    self_.identity.boot_id = boot_id;
  }
  const Standpoint& self() const override { return self_; }
  std::string executable() const override { return inner_->executable(); }
  bool forked() const override { return inner_->forked(); }
  ProcessSight look(std::int32_t pid) const override { return inner_->look(pid); }
  bool ending(std::int32_t pid, std::uint64_t ticks) const override { return inner_->ending(pid, ticks); }
  Anywhere find(std::int32_t pid, std::uint64_t ticks) const override { return inner_->find(pid, ticks); }
  Result<ProcessIdentity> identify(std::int32_t pid) const override { return inner_->identify(pid); }
  std::string command_of(std::int32_t pid) const override { return inner_->command_of(pid); }
  std::string directory_of(std::int32_t pid) const override { return inner_->directory_of(pid); }
  int death_descriptor(std::int32_t pid) const override { return inner_->death_descriptor(pid); }

 private:
  std::shared_ptr<const env::Processes> inner_;
  Standpoint self_;
};

class LocalFixture final : public Fixture {
 public:
  LocalFixture() : store_(fakes::FakeLocalStore::create(world_, clock_)) {}
  ~LocalFixture() override { expect_a_whole_table(); }
  std::optional<Code> joins_without_randomness() override {
    const Client client = world_->spawn({});
    auto random = std::make_shared<fakes::FakeRandom>(1);
    random->run_dry(true);
    auto engine = open_local(store_->open(client), store_->words(client), {clock_, random, world_->view(client)}, {});
    return engine ? Code::internal : engine.error().code;
  }
  std::shared_ptr<fakes::FaultPlan> faults(Client client) override { return store_->faults(client); }

 protected:
  std::shared_ptr<Engine> open(Client client, const env::Environment& environment) override {
    if (boot_id_.empty()) boot_id_ = environment.processes->self().identity.boot_id;
    env::Environment own = environment;
    own.processes = std::make_shared<const OneKernel>(environment.processes, boot_id_);
    LocalOptions options;
    options.limits = {.members = 512, .buckets = 1'024, .cells = 16'384, .first_cells = 256, .events = 1'024};
    auto engine = open_local(store_->open(client), store_->words(client), own, options);
    EXPECT_TRUE(engine.has_value()) << engine.error().message;
    return engine ? *engine : nullptr;
  }
  bool forget() override {
    store_->lose_power();
    boot_id_.clear();
    return true;
  }

 private:
  // Whatever a case did: the table is as its invariants have it.
  void expect_a_whole_table() {
    const auto last = engine(add_client());
    if (!last) return;
    for (const std::string& fault : local::faults_in(local::core_of(*last))) ADD_FAILURE() << fault;
  }

  std::shared_ptr<fakes::FakeLocalStore> store_;
  std::string boot_id_;
};

INSTANTIATE_TEST_SUITE_P(local, Conformance, testing::Values(make_fixture<LocalFixture>("fakes")), name_of);

}  // namespace
}  // namespace tenure::conformance
