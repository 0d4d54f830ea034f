// The place that a lease keeps for the next one: it is kept only while it is nobody else's.
#include <gtest/gtest.h>

#include "engine/local/check.h"
#include "engine/local/local.h"
#include "fakes/fake_local_folder.h"
#include "fakes/fake_random.h"
#include "lease/over.h"

namespace tenure::local {
namespace {

class Place : public testing::Test {
 protected:
  struct Party {
    std::shared_ptr<Engine> engine;
    std::optional<Space> space;
  };

  Party join() {
    const auto process = world_->spawn();
    env::Environment environment{clock_, std::make_shared<fakes::FakeRandom>(++joined_), world_->view(process)};
    LocalOptions options;
    options.limits = {.members = 8, .buckets = 8, .cells = 128, .first_cells = 128, .events = 64};
    auto engine = open_local(store_->open(process), store_->words(process), environment, options);
    EXPECT_TRUE(engine) << engine.error().message;
    return {*engine, lease::over(*engine, environment, "local:/a/space")};
  }

  static Key key(const std::string& text) { return *Key::parse(text); }

  // Each of them is held by its own holder, and the table agrees.
  void expect_held(std::vector<Lease>& leases) {
    for (Lease& lease : leases) {
      EXPECT_TRUE(lease.verify()) << lease.key().text();
      EXPECT_EQ(ours_.space->holder(lease.key())->epoch, lease.epoch()) << lease.key().text();
    }
    for (const std::string& fault : faults_in(core_of(*ours_.engine))) ADD_FAILURE() << fault;
  }

  // So many that whatever cells either party has at hand are put to use.
  void claim_by_turns(std::vector<Lease>& leases) {
    for (int i = 0; i < 12; ++i) {
      Party& party = i % 2 == 0 ? theirs_ : ours_;
      auto lease = party.space->claim(key("key " + std::to_string(i)));
      ASSERT_TRUE(lease) << lease.error().message;
      leases.push_back(std::move(*lease));
    }
  }

  std::shared_ptr<fakes::FakeWorld> world_ = fakes::FakeWorld::create();
  std::shared_ptr<fakes::FakeClock> clock_ = std::make_shared<fakes::FakeClock>();
  std::shared_ptr<fakes::FakeLocalStore> store_ = fakes::FakeLocalStore::create(world_, clock_);
  std::uint64_t joined_ = 0;
  Party ours_ = join();
  Party theirs_ = join();
};

TEST_F(Place, OfARevokedLeaseGoesToWhoeverRevokedIt) {
  // The second claim of an object takes the short way.
  ASSERT_TRUE(ours_.space->claim(key("before"))->release());
  {
    auto lease = ours_.space->claim(key("revoked"));
    ASSERT_TRUE(lease);
    ASSERT_TRUE(theirs_.space->revoke(key("revoked"), {.reason = "a test", .force = true}));
    EXPECT_FALSE(lease->release().value_or(false));
  }
  std::vector<Lease> leases;
  claim_by_turns(leases);
  expect_held(leases);
}

TEST_F(Place, OfALeaseThatWasReleasedByItsHandleIsKeptOnce) {
  ASSERT_TRUE(ours_.space->claim(key("before"))->release());
  {
    auto lease = ours_.space->claim(key("by handle"));
    ASSERT_TRUE(lease);
    EXPECT_TRUE(ours_.space->release(lease->handle()));
  }
  std::vector<Lease> leases;
  claim_by_turns(leases);
  expect_held(leases);
}

}  // namespace
}  // namespace tenure::local
