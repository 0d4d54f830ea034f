// Operations under guard, and the ends of those who run them and of those whose lease it is.
#include <signal.h>

#include "deaths/lives.h"
#include "engine/local/membership.h"

namespace tenure::local_test {
namespace {

class GuardedLives : public Lives {
 protected:
  // A child that runs an operation under the guard of the lease, says 'g' from inside of it, and ends it when it is
  // told to: 'o', it went well; 'u', nobody knows.
  std::unique_ptr<Actor> worker(const Grant& grant, Duration at_most) {
    const std::string path = folder_.path();
    const GuardRequest by_epoch{grant.key, grant.epoch, std::nullopt, at_most};
    auto actor = std::make_unique<Actor>([=](const Actor::Line& line) {
      const auto done = join(path)->guard(by_epoch, [&]() -> Result<void> {
        line.say('g');
        (void)line.hear();
        return {};
      });
      line.say(done ? 'o' : done.error().code == Code::unknown_outcome ? 'u' : 'x');
      return 0;
    });
    EXPECT_EQ(actor->hear(), 'g');
    return actor;
  }
  Grant mine(const std::string& key) {
    auto granted = engine_->try_claim(request(key, "test", "mine"));
    EXPECT_TRUE(granted) << granted.error().message;
    return *granted;
  }
  static ClaimRef ref(const Grant& grant) { return {grant.key, grant.claim, grant.epoch}; }
  std::optional<Code> revocation(const std::string& key) {
    auto revoked = engine_->revoke({*Key::parse(key), "a test", true, std::nullopt});
    return revoked ? std::nullopt : std::optional(revoked.error().code);
  }
  std::uint64_t guard_of(const std::string& key) {
    const auto seen = local::read_key(local::core_of(*engine_), key);
    return seen && *seen ? (*seen)->guard : 0;
  }
};

TEST_F(GuardedLives, AWorkerThatIsKilledGuardsNothingAndTheLeaseIsItsHolders) {
  const Grant grant = mine("k");
  const auto child = worker(grant, std::chrono::hours(1));
  EXPECT_EQ(revocation("k"), Code::section_busy);
  child->kill(SIGKILL);
  child->wait();
  EXPECT_TRUE(engine_->verify(ref(grant)));
  const auto released = engine_->release(ref(grant));
  EXPECT_TRUE(released && released->released);
}

TEST_F(GuardedLives, WhatAKilledWorkerLeftIsGoneBeforeItsNumberIsAnothers) {
  const Grant grant = mine("k");
  const auto child = worker(grant, std::chrono::hours(1));
  EXPECT_NE(guard_of("k"), 0U);
  child->kill(SIGKILL);
  child->wait();
  local::clear_dead_members(local::core_of(*engine_));
  EXPECT_EQ(guard_of("k"), 0U);
  EXPECT_TRUE(engine_->verify(ref(grant)));
  release("k", grant);
}

TEST_F(GuardedLives, AStoppedWorkerKeepsItToItsBoundAndThenTheLeaseIsLost) {
  const Grant grant = mine("k");
  const auto child = worker(grant, milliseconds(300));
  child->kill(SIGSTOP);
  EXPECT_TRUE(child->wait_until_stopped());
  EXPECT_TRUE(comes_free("k", seconds(20)));
  EXPECT_EQ(engine_->verify(ref(grant)).error().code, Code::lost);
  child->kill(SIGCONT);
  child->say('e');
  EXPECT_EQ(child->hear(), 'u');
}

TEST_F(GuardedLives, TheHolderMayDieAndTheKeyComesFreeWithTheOperation) {
  const auto lease_of = holder("k", until_told);
  const auto seen = engine_->holder(*Key::parse("k"));
  ASSERT_TRUE(seen && seen->holder);
  const auto child = worker(Grant{.key = *Key::parse("k"), .claim = {}, .epoch = seen->epoch}, std::chrono::hours(1));
  lease_of->kill(SIGKILL);
  lease_of->wait();
  EXPECT_TRUE(is_held("k"));
  auto next = waits("k", "next");
  until_in_line("k", "1");
  // Those who clear up after the dead leave it alone, too.
  for (int i = 0; i < 5; ++i) (void)join(folder_.path());
  EXPECT_EQ(next.wait_for(milliseconds(0)), std::future_status::timeout);
  child->say('e');
  EXPECT_EQ(child->hear(), 'o') << "it was taken from under the operation";
  auto granted = next.get();
  ASSERT_TRUE(granted) << granted.error().message;
  release("k", *granted);
}

TEST_F(GuardedLives, AWorkerThatIsKilledLetsADeadHoldersKeyGo) {
  const auto lease_of = holder("k", until_told);
  const auto seen = engine_->holder(*Key::parse("k"));
  ASSERT_TRUE(seen && seen->holder);
  const auto child = worker(Grant{.key = *Key::parse("k"), .claim = {}, .epoch = seen->epoch}, std::chrono::hours(1));
  auto next = waits("k", "next");
  until_in_line("k", "1");
  lease_of->kill(SIGKILL);
  lease_of->wait();
  child->kill(SIGKILL);
  child->wait();
  auto granted = next.get();
  ASSERT_TRUE(granted) << granted.error().message;
  release("k", *granted);
}

TEST_F(GuardedLives, ADeadReadersPlaceIsKeptByTheGuardOfAnother) {
  const std::string path = folder_.path();
  Actor reader([path](const Actor::Line& line) {
    const auto engine = join(path);
    ClaimRequest wanted = request("k");
    wanted.terms.mode = Mode::shared;
    line.say(engine->try_claim(wanted) ? 'h' : 'x');
    (void)line.hear();
    return 0;
  });
  ASSERT_EQ(reader.hear(), 'h');
  const auto seen = engine_->holder(*Key::parse("k"));
  ASSERT_TRUE(seen && seen->holder);
  const auto child = worker(Grant{.key = *Key::parse("k"), .claim = {}, .epoch = seen->epoch}, std::chrono::hours(1));
  reader.kill(SIGKILL);
  reader.wait();
  EXPECT_TRUE(is_held("k"));
  for (int i = 0; i < 5; ++i) (void)join(folder_.path());
  EXPECT_TRUE(is_held("k"));
  child->say('e');
  EXPECT_EQ(child->hear(), 'o');
  EXPECT_TRUE(comes_free("k", seconds(20)));
}

}  // namespace
}  // namespace tenure::local_test
