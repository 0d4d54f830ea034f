#include "conformance/fixture.h"

namespace tenure::conformance {

Fixture::Fixture() : world_(fakes::FakeWorld::create()), clock_(std::make_shared<fakes::FakeClock>()) {
  world_->on_death([this](Client client) { ended(client); });
}

Client Fixture::add_client(const fakes::Birth& birth) {
  const Client client = world_->spawn(birth);
  auto random = std::make_shared<fakes::FakeRandom>([this] {
    std::lock_guard lock(mutex_);
    return next_seed_++;
  }());
  auto opened = open(client, env::Environment{clock_, random, world_->view(client)});
  std::lock_guard lock(mutex_);
  processes_[client] = Process{random, std::move(opened)};
  return client;
}

std::shared_ptr<Engine> Fixture::engine(Client client) {
  std::lock_guard lock(mutex_);
  return processes_.at(client).engine;
}

const Traits& Fixture::traits() {
  {
    std::lock_guard lock(mutex_);
    if (!processes_.empty()) return processes_.begin()->second.engine->traits();
  }
  return engine(add_client())->traits();
}

fakes::FakeRandom& Fixture::random(Client client) {
  std::lock_guard lock(mutex_);
  return *processes_.at(client).random;
}

void Fixture::pass(Duration by) {
  clock_->advance(by);
  nudge();
}

void Fixture::drop_all() {
  std::map<Client, Process> dropped;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(processes_);
  }
  for (const auto& [client, process] : dropped) world_->kill(client);
}

void Fixture::restart() {
  drop_all();
}

bool Fixture::lose_power() {
  if (!forget()) return false;
  drop_all();
  world_->reboot(fakes::Birth{}.machine);
  return true;
}

}  // namespace tenure::conformance
