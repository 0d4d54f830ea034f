// What the verbs make of guards and intents: pi-amq's second table.
#include "receiver/receiver_world.h"

namespace tenure::tests {
namespace {

class GuardRows : public ReceiverWorld {};

TEST_F(GuardRows, L16_a_live_guard_is_waited_for_within_one_deadline_and_nobody_is_touched) {
  const ReceiverProcess guard = record_of(world->spawn({}), "gen-g");
  place_guard(guard);
  const MonotonicTime before = clock->monotonic();
  EXPECT_EQ(refusal(), Code::section_busy);
  EXPECT_TRUE(says("lifecycle-busy")) << message_;
  EXPECT_GE(clock->monotonic() - before, std::chrono::seconds(1));
  EXPECT_EQ(disk->bytes(receiver::kGuard), encode(guard));
  EXPECT_EQ(names(), std::vector<std::string>{receiver::kGuard}) << "nothing of the claim is left";
}

TEST_F(GuardRows, L9_busy_is_not_lost) {
  const Client one = client();
  auto grant = one.engine->try_claim(request());
  ASSERT_TRUE(grant);
  place_guard(record_of(world->spawn({}), "gen-g"));
  Result<void> guarded;
  passing(
      [&] { guarded = one.engine->guard(guard_of(*grant, std::chrono::seconds(1)), [] { return Result<void>{}; }); });
  EXPECT_EQ(guarded.error().code, Code::section_busy);
  EXPECT_TRUE(one.engine->verify(ref(*grant)));
}

TEST_F(GuardRows, AStaleGuardGoesToQuarantineAsItWas) {
  const ProcessNumber dead = world->spawn({});
  const ReceiverProcess guard = record_of(dead, "gen-g");
  place_guard(guard);
  world->kill(dead);
  auto grant = newcomer();
  ASSERT_TRUE(grant) << grant.error().message;
  const auto kept = names(receiver::kQuarantine);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_TRUE(kept.front().starts_with("lifecycle.gen-g.")) << kept.front();
  EXPECT_EQ(disk->bytes(std::string(receiver::kQuarantine) + "/" + kept.front()), encode(guard));
  EXPECT_TRUE(names(receiver::kReclaims).empty());
  EXPECT_FALSE(there(receiver::kGuard));
}

TEST_F(GuardRows, OneOfOursIsStaleOnceItsLockIsFreeInWhateverNamespace) {
  const Client one = client({.pid_namespace = 4'026'533'000});
  disk->faults(one.process)->at("link", 1, {fakes::Fault::Kind::die_after, Code::internal});
  ASSERT_FALSE(one.engine->try_claim(request()));
  ASSERT_TRUE(there(receiver::kGuard));
  EXPECT_TRUE(newcomer({.pid_namespace = 4'026'533'999})) << "neither sees the other's pid";
}

// The clock stands still: whoever waited would wait for ever.
TEST_F(GuardRows, WhatCannotBeJudgedIsRefusedAtOnce) {
  const auto refused = [&](const Birth& birth = {}) {
    auto claimed = client(birth).engine->try_claim(request());
    message_ = claimed ? "" : claimed.error().message;
    return claimed ? Code::internal : claimed.error().code;
  };
  ReceiverProcess remote = record_of(world->spawn({}), "gen-g");
  remote.hostname = "elsewhere";
  remote.boot_identity = "66666666-7777-8888-9999-000000000000";
  place_guard(remote);
  EXPECT_EQ(refused(), Code::holder_live);
  EXPECT_TRUE(says("lifecycle-unverifiable") && says("elsewhere")) << message_;
  disk->place(receiver::kGuard, Placed::file, "");
  EXPECT_EQ(refused(), Code::damaged);
  EXPECT_TRUE(says("lifecycle-unverifiable")) << message_;
  const ProcessNumber dead = world->spawn({});
  place_guard(record_of(dead));
  world->kill(dead);
  EXPECT_EQ(refused({.pid_namespace = 4'026'533'000}), Code::holder_live);
}

TEST_F(GuardRows, AGuardThatVanishesIsNoHindrance) {
  const Client one = client();
  place_guard(record_of(world->spawn({}), "gen-g"));
  disk->faults(one.process)->before("probe_life", 1, [] {});
  // Between the refused link and the look at who made it.
  disk->faults(one.process)->before("link", 1, [&] {
    disk->faults(one.process)->before("read", 1, [&] { disk->erase(receiver::kGuard); });
  });
  EXPECT_TRUE(one.engine->try_claim(request()));
}

TEST_F(GuardRows, ALiveIntentIsWaitedFor) {
  place_intent(record_of(world->spawn({}), "gen-9"));
  EXPECT_EQ(refusal(), Code::section_busy);
  EXPECT_TRUE(says("lifecycle-busy")) << message_;
}

TEST_F(GuardRows, TheIntentOfADeadOneIsRemoved) {
  const ProcessNumber dead = world->spawn({});
  place_intent(record_of(dead, "gen-9"));
  world->kill(dead);
  EXPECT_TRUE(newcomer());
  EXPECT_TRUE(names(receiver::kReclaims).empty());
}

TEST_F(GuardRows, AnIntentThatCannotBeReadIsRefused) {
  disk->place(std::string(receiver::kReclaims) + "/reclaim.x.json", Placed::file, "[]");
  EXPECT_EQ(refusal(), Code::damaged);
  EXPECT_TRUE(says("lifecycle-unverifiable")) << message_;
}

TEST_F(GuardRows, OtherNamesAreNoIntents) {
  for (const char* name : {"reclaim.json", "reclaim.x.json.tmp", "x.reclaim.y.json", "notes.txt"}) {
    disk->place(std::string(receiver::kReclaims) + "/" + name, Placed::file, "[]");
  }
  EXPECT_TRUE(newcomer());
  EXPECT_EQ(names(receiver::kReclaims).size(), 4U);
}

TEST_F(GuardRows, AnIntentThatAppearsAfterTheGuardWasMadeSendsUsOut) {
  const Client one = client();
  const ProcessNumber reclaimer = world->spawn({});
  bool guard_was_ours = false;
  // The second look at the intents comes after the guard was made.
  disk->faults(one.process)->before("link", 1, [&] {
    disk->faults(one.process)->before("open_folder", 1, [&] {
      guard_was_ours = there(receiver::kGuard);
      place_intent(record_of(reclaimer, "gen-9"));
    });
  });
  Result<Grant> claimed = fail(Code::internal, "");
  passing([&] { claimed = one.engine->try_claim(request()); });
  EXPECT_TRUE(guard_was_ours);
  EXPECT_EQ(claimed.error().code, Code::section_busy) << claimed.error().message;
  EXPECT_FALSE(there(receiver::kGuard));
  EXPECT_FALSE(there(kOwnerPath));
}

TEST_F(GuardRows, L12_a_newcomers_guard_that_is_moved_for_the_stale_one_is_put_back) {
  const ProcessNumber dead = world->spawn({});
  place_guard(record_of(dead, "gen-g"));
  world->kill(dead);
  const Client one = client();
  const ReceiverProcess newcomer = record_of(world->spawn({}), "gen-new");
  disk->faults(one.process)->before("move", 1, [&] { place_guard(newcomer); });
  Result<Grant> claimed = fail(Code::internal, "");
  passing([&] { claimed = one.engine->try_claim(request()); });
  EXPECT_EQ(claimed.error().code, Code::section_busy) << claimed.error().message;
  EXPECT_EQ(disk->bytes(receiver::kGuard), encode(newcomer));
  EXPECT_TRUE(names(receiver::kQuarantine).empty()) << "nobody living is filed among the dead";
}

TEST_F(GuardRows, D3_a_full_disk_keeps_nobody_from_giving_back_or_from_guarded_work) {
  const Client one = client();
  auto grant = one.engine->try_claim(request());
  ASSERT_TRUE(grant);
  disk->set_capacity(0);
  int runs = 0;
  auto guarded = one.engine->guard(guard_of(*grant, std::chrono::seconds(1)), [&] {
    ++runs;
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  EXPECT_EQ(runs, 1);
  auto released = one.engine->release(ref(*grant));
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_TRUE(released->released);
  EXPECT_EQ(names(), std::vector<std::string>{receiver::kEpochs});
}

TEST_F(GuardRows, GuardedWorkKeepsPiAmqOutByItsOwnRule) {
  const Client one = client();
  auto grant = one.engine->try_claim(request());
  ASSERT_TRUE(grant);
  auto guarded = one.engine->guard(guard_of(*grant, std::chrono::seconds(1)), [&]() -> Result<void> {
    auto record = decode_receiver_guard(disk->bytes(receiver::kGuard).value_or(""));
    EXPECT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->pid, static_cast<std::uint64_t>(world->pid_of(one.process)));
    EXPECT_EQ(record->start_identity, std::to_string(world->identity_of(one.process).start_ticks));
    return {};
  });
  EXPECT_TRUE(guarded);
  EXPECT_FALSE(there(receiver::kGuard));
}

TEST_F(GuardRows, S4_release_by_anybody_but_the_current_claim_changes_nothing) {
  const Client one = client();
  auto grant = one.engine->try_claim(request());
  ASSERT_TRUE(grant);
  ClaimRef wrong = ref(*grant);
  wrong.claim = ClaimId{};
  EXPECT_EQ(one.engine->release(wrong).error().code, Code::lost);
  EXPECT_TRUE(one.engine->verify(ref(*grant)));
  // A process of pi-amq displaced it, rightly or not.
  disk->erase(receiver::kLease);
  const ReceiverOwner other = owner_of(world->spawn({}), "gen-2");
  place_owner(other);
  EXPECT_EQ(one.engine->release(ref(*grant)).error().code, Code::lost);
  EXPECT_EQ(disk->bytes(kOwnerPath), encode(other));
  disk->erase(receiver::kLease);
  auto released = one.engine->release(ref(*grant));
  EXPECT_TRUE(released && !released->released) << "there is nothing any more";
}

}  // namespace
}  // namespace tenure::tests
