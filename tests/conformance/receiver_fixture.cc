// The receiver engine in the suite: on the disk that forgets, each key a namespace of its own.
#include "engine/receiver/receiver_engine.h"

#include <gtest/gtest.h>

#include "conformance/conformance.h"
#include "conformance/many_receivers.h"
#include "fakes/fake_disk.h"
#include "model/receiver_names.h"
#include "model/sha256.h"

namespace tenure::conformance {
namespace {

// A guard has the name of the file it was made as, and its own; in the hand of a reclaimer two more.
constexpr std::size_t kNamesOfAGuard = 8;

class ReceiverFixture final : public Fixture {
 public:
  ReceiverFixture() { disk_->set_most_links(kNamesOfAGuard); }

  bool damage(const Key& key) override {
    disk_->place(namespace_of(key) + "/" + receiver::kLease + "/" + receiver::kOwner, fakes::Placed::file,
                 "{\"half\": ");
    return true;
  }
  std::shared_ptr<fakes::FaultPlan> faults(Client client) override { return disk_->faults(client); }

 protected:
  std::shared_ptr<Engine> open(Client client, const env::Environment& environment) override {
    auto root = std::shared_ptr<env::Directory>(disk_->open(client));
    return std::make_shared<ManyReceivers>(known_, [root, environment](const Key& key) -> std::shared_ptr<Engine> {
      const fakes::Background uncounted;  // opening is not what fails here
      (void)root->make_folder(namespace_of(key));
      auto folder = root->open_folder(namespace_of(key));
      if (!folder || *folder == nullptr) return nullptr;
      (void)root->sync();
      return open_receiver(std::move(*folder), environment, {.root_id = "root"});
    });
  }
  bool forget() override {
    disk_->lose_power();
    return true;
  }

 private:
  static std::string namespace_of(const Key& key) { return sha256_hex(key.text()); }

  std::shared_ptr<fakes::FakeDisk> disk_ = fakes::FakeDisk::create(world_, clock_);
  std::shared_ptr<KnownKeys> known_ = std::make_shared<KnownKeys>();
};

INSTANTIATE_TEST_SUITE_P(receiver, Conformance, testing::Values(make_fixture<ReceiverFixture>("on_fake_disk")),
                         name_of);

}  // namespace
}  // namespace tenure::conformance
