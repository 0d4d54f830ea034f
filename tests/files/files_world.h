// FilesWorld: fake processes that contend for one `files:` folder on a disk that forgets.
#pragma once

#include <memory>
#include <string>

#include "engine/files/files_engine.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_disk.h"
#include "fakes/fake_processes.h"
#include "fakes/fake_random.h"

namespace tenure::tests {

// One fake process with the folder open.
struct FilesClient {
  fakes::ProcessNumber number;
  std::shared_ptr<fakes::FakeRandom> random;
  env::Environment environment;
  std::shared_ptr<Engine> engine;
};

class FilesWorld {
 public:
  explicit FilesWorld(rules::Expiry expiry = rules::Expiry::proof) : expiry_(expiry) {}

  FilesClient client(const fakes::Birth& birth = {}) { return reopen(world->spawn(birth)); }
  // The same process opens the folder (again).
  FilesClient reopen(fakes::ProcessNumber number) {
    FilesClient client{number, std::make_shared<fakes::FakeRandom>(++seed_), {}, nullptr};
    client.environment = {clock, client.random, world->view(number)};
    client.engine = open_files(disk->open(number), client.environment, FilesOptions{expiry_});
    return client;
  }

  const std::shared_ptr<fakes::FakeWorld> world = fakes::FakeWorld::create();
  const std::shared_ptr<fakes::FakeClock> clock = std::make_shared<fakes::FakeClock>();
  const std::shared_ptr<fakes::FakeDisk> disk = fakes::FakeDisk::create(world, clock);

 private:
  const rules::Expiry expiry_;
  std::uint64_t seed_ = 0;
};

inline Key key(const std::string& text) {
  return *Key::parse(text);
}

inline ClaimRequest request(const std::string& name, const std::string& owner = "owner",
                            const std::string& part = "part") {
  return {key(name), owner, part};
}

inline GuardRequest guard_of(const Grant& grant, Duration at_most) {
  return {grant.key, grant.epoch, grant.claim, at_most};
}

inline ClaimRef ref(const Grant& grant) {
  return {grant.key, grant.claim, grant.epoch};
}

}  // namespace tenure::tests
