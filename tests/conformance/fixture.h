// Fixture: a store, and fake processes that open it; what each engine must provide to be run through the suite.
//
// To add an engine: derive, implement open() (and what else the store can suffer), and instantiate the suite:
//
//   INSTANTIATE_TEST_SUITE_P(files, Conformance, testing::Values(make_fixture<FilesFixture>("fake_disk")), name_of);
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>

#include "engine/engine.h"
#include "env/environment.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_processes.h"
#include "fakes/fake_random.h"
#include "fakes/fault_plan.h"

namespace tenure::conformance {

// A fake process that has the store open.
using Client = fakes::ProcessNumber;

// Thread-safe, but for restart().
class Fixture {
 public:
  Fixture();
  virtual ~Fixture() = default;
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  Client add_client(const fakes::Birth& birth = {});
  // Shared, so that a call that is under way outlives a kill.
  std::shared_ptr<Engine> engine(Client client);
  const Traits& traits();

  // Processes are killed, stopped, hidden and so on through the world, clocks are moved by pass() or by the clock.
  fakes::FakeWorld& world() { return *world_; }
  fakes::FakeClock& clock() { return *clock_; }
  fakes::FakeRandom& random(Client client);
  // Time passes for everybody.
  void pass(Duration by);

  // All processes end and all engines are dropped; the store stays. Clients must be added anew.
  void restart();
  // The same by loss of power, with another boot: only what is durable stays. False: the store knows no such thing.
  bool lose_power();

  // Makes the record of a held key unreadable. False: this store cannot be damaged.
  virtual bool damage(const Key& /*key*/) { return false; }
  // The store goes by a foreign rule under which a silent holder is displaced alive or not, by the clock on the wall.
  // Cases that say the contrary do not apply to it; it is no engine of its own but a mode kept for its neighbours.
  virtual bool judges_by_age() const { return false; }
  // Of engines that draw what their claim ids are made of when they join: how joining without it ends.
  virtual std::optional<Code> joins_without_randomness() { return std::nullopt; }
  // What goes wrong for that client's calls to its disk; nullptr where there is none.
  virtual std::shared_ptr<fakes::FaultPlan> faults(Client /*client*/) { return nullptr; }

 protected:
  virtual std::shared_ptr<Engine> open(Client client, const env::Environment& environment) = 0;
  // The address space of a process is gone, by whatever way. A store that does not hear of it by itself lets go of what
  // it held.
  virtual void ended(Client /*client*/) {}
  // The machine lost its power: forget what is not durable.
  virtual bool forget() { return false; }
  // The fake clock was moved: wakes those who sleep in the kernel on real time, where there are such.
  virtual void nudge() {}

  std::shared_ptr<fakes::FakeWorld> world_;
  std::shared_ptr<fakes::FakeClock> clock_;

 private:
  struct Process {
    std::shared_ptr<fakes::FakeRandom> random;
    std::shared_ptr<Engine> engine;
  };
  void drop_all();

  std::mutex mutex_;
  std::map<Client, Process> processes_;
  std::uint64_t next_seed_ = 1;
};

struct FixtureFactory {
  std::string name;
  std::function<std::unique_ptr<Fixture>()> make;
  // How GoogleTest shows it.
  friend void PrintTo(const FixtureFactory& factory, std::ostream* out) { *out << factory.name; }
};

template <class F>
FixtureFactory make_fixture(std::string name) {
  return {std::move(name), [] { return std::make_unique<F>(); }};
}

}  // namespace tenure::conformance
