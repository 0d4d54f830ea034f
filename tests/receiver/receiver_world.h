// ReceiverWorld: fake processes that contend for one namespace, ours and those of pi-amq, of which only what they write
// is here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "engine/receiver/receiver_engine.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_disk.h"
#include "fakes/fake_processes.h"
#include "fakes/fake_random.h"
#include "model/receiver_names.h"
#include "model/receiver_record.h"
#include "model/receiver_sidecar.h"

namespace tenure::tests {

using fakes::Birth;
using fakes::Placed;
using fakes::ProcessNumber;

inline const std::string kOwnerPath = std::string(receiver::kLease) + "/" + receiver::kOwner;
inline const std::string kSidecarPath = std::string(receiver::kLease) + "/" + receiver::kSidecar;
inline const std::string kLifePath = std::string(receiver::kLease) + "/" + receiver::kLife;

class ReceiverWorld : public testing::Test {
 protected:
  struct Client {
    ProcessNumber process{};
    env::Environment environment;
    std::shared_ptr<Engine> engine;
  };

  ReceiverWorld() { disk->set_most_links(8); }

  Client client(const Birth& birth = {}, ReceiverOptions options = {.root_id = "root"}) {
    return reopen(world->spawn(birth), std::move(options));
  }
  Client reopen(ProcessNumber process, ReceiverOptions options = {.root_id = "root"}) {
    Client client{process, {clock, std::make_shared<fakes::FakeRandom>(++seed_), world->view(process)}, nullptr};
    client.engine = open_receiver(disk->open(process), client.environment, std::move(options));
    return client;
  }

  static ClaimRequest request(const std::string& owner = "owner", const std::string& part = "part") {
    return {.key = *Key::parse(kReceiverKey), .owner = owner, .part = part};
  }
  static ClaimRef ref(const Grant& grant) { return {grant.key, grant.claim, grant.epoch}; }
  static GuardRequest guard_of(const Grant& grant, Duration at_most) {
    return {grant.key, grant.epoch, grant.claim, at_most};
  }

  // What pi-amq writes of a process.
  ReceiverProcess record_of(ProcessNumber process, const std::string& generation = "gen-1") {
    const ProcessIdentity identity = world->identity_of(process);
    ReceiverProcess record;
    record.generation = generation;
    record.pid = static_cast<std::uint64_t>(identity.pid);
    record.start_identity = std::to_string(identity.start_ticks);
    record.boot_identity = identity.boot_id;
    record.executable = "/usr/bin/node";
    record.hostname = "host-a";
    record.created_at = "2026-01-02T03:04:05.678Z";
    return record;
  }
  ReceiverOwner owner_of(ProcessNumber process, const std::string& generation = "gen-1") {
    return {record_of(process, generation), "session-1", "/home/pi/session-1.jsonl", "root"};
  }
  void place_owner(const ReceiverOwner& owner) { disk->place(kOwnerPath, Placed::file, encode(owner)); }
  void place_guard(const ReceiverProcess& record) { disk->place(receiver::kGuard, Placed::file, encode(record)); }
  void place_intent(const ReceiverProcess& record, const std::string& name = "reclaim.gen-9.json") {
    disk->place(std::string(receiver::kReclaims) + "/" + name, Placed::file, encode(record));
  }

  // What a fresh process is told.
  Result<Grant> newcomer(const Birth& birth = {}, ReceiverOptions options = {.root_id = "root"}) {
    last_ = client(birth, std::move(options));
    Result<Grant> claimed = fail(Code::internal, "not tried");
    passing([&] { claimed = last_.engine->try_claim(request("newcomer")); });
    return claimed;
  }
  Code refusal(const Birth& birth = {}) {
    auto claimed = newcomer(birth);
    if (claimed) return Code::internal;
    message_ = claimed.error().message;
    return claimed.error().code;
  }
  bool says(const std::string& words) const { return message_.find(words) != std::string::npos; }

  // Fake time passes while `act` waits.
  template <class Act>
  void passing(Act act) {
    auto done = std::async(std::launch::async, act);
    for (int round = 0; round < 20'000; ++round) {
      if (done.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready) return done.get();
      clock->advance(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "it waits for ever";
    std::abort();
  }

  std::vector<std::string> names(const std::string& folder = {}) const { return disk->names(folder); }
  bool there(const std::string& name) const { return disk->bytes(name).has_value(); }

  const std::shared_ptr<fakes::FakeWorld> world = fakes::FakeWorld::create();
  const std::shared_ptr<fakes::FakeClock> clock = std::make_shared<fakes::FakeClock>();
  const std::shared_ptr<fakes::FakeDisk> disk = fakes::FakeDisk::create(world, clock);
  Client last_;
  std::string message_;

 private:
  std::uint64_t seed_ = 0;
};

}  // namespace tenure::tests
