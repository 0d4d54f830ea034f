// An operator takes a lease away.
#include "conformance/conformance.h"

namespace tenure::conformance {
namespace {

TEST_P(Conformance, ALiveHolderIsNotRevokedWithoutForce) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  auto engine = fixture->engine(fixture->add_client());
  auto refused = engine->revoke({key("thing"), "because", false, std::nullopt});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::holder_live);
  EXPECT_FALSE(engine->revoke({key("thing"), "", true, std::nullopt})) << "force without a reason";
  EXPECT_TRUE(is_current(first, grant));
}

TEST_P(Conformance, AStoppedOrUnseenHolderIsNotRevokedWithoutForce) {
  const Client first = fixture->add_client();
  const Client second = fixture->add_client({.pid_namespace = 77});
  const Grant grant = claim(first, request(key("thing"), "first"));
  auto refused = fixture->engine(second)->revoke({key("thing"), "because", false, std::nullopt});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::holder_live);
  fixture->world().stop(first);
  EXPECT_FALSE(fixture->engine(fixture->add_client())->revoke({key("thing"), "because", false, std::nullopt}));
  fixture->world().resume(first);
  EXPECT_TRUE(is_current(first, grant));
}

TEST_P(Conformance, RevocationByForceTellsTheHolder) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  auto changes = fixture->engine(first)->changes();
  ASSERT_TRUE(changes);
  auto revoked = fixture->engine(fixture->add_client())->revoke({key("thing"), "a good reason", true, std::nullopt});
  ASSERT_TRUE(revoked) << revoked.error().message;
  EXPECT_EQ(revoked->was.epoch, grant.epoch);
  EXPECT_EQ(revoked->was.holder->owner, "first");
  auto told = std::async(std::launch::async, [&] { return (*changes)->wait(minutes(1), nullptr); });
  ASSERT_TRUE(comes(told)) << "no notice of the revocation";
  EXPECT_TRUE(told.get());
  EXPECT_TRUE(is_lost(first, grant));
  EXPECT_FALSE(fixture->engine(first)->renew(ref(grant))) << "a revoked lease was renewed";
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, APinnedRevocationSparesOtherEpochs) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  auto engine = fixture->engine(fixture->add_client());
  for (std::uint64_t other : {grant.epoch.value() - 1, grant.epoch.value() + 1}) {
    auto refused = engine->revoke({key("thing"), "because", true, Epoch(other)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::epoch_changed);
  }
  EXPECT_TRUE(is_current(first, grant));
  EXPECT_TRUE(engine->revoke({key("thing"), "because", true, grant.epoch}));
  EXPECT_TRUE(is_lost(first, grant));
}

TEST_P(Conformance, ADeadHolderIsClearedWithoutForce) {
  const Client first = fixture->add_client();
  const Grant grant = claim(first, request(key("thing"), "first"));
  fixture->world().kill(first);
  auto engine = fixture->engine(fixture->add_client());
  auto revoked = engine->revoke({key("thing"), "", false, std::nullopt});
  ASSERT_TRUE(revoked) << revoked.error().message;
  EXPECT_EQ(revoked->was.verdict.liveness, Liveness::dead);
  auto seen = engine->holder(key("thing"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, State::free);
  EXPECT_GT(stranger_gets(key("thing")), grant.epoch);
}

TEST_P(Conformance, AFreeKeyCannotBeRevoked) {
  auto engine = fixture->engine(fixture->add_client());
  auto refused = engine->revoke({key("thing"), "because", true, std::nullopt});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_held);
}

}  // namespace
}  // namespace tenure::conformance
