// What the folder keeps: epochs, leftovers, evidence; and how it is repaired.
#include "receiver/receiver_world.h"

namespace tenure::tests {
namespace {

class Keeping : public ReceiverWorld {
 protected:
  Epoch turn() {
    const Client one = client();
    auto grant = one.engine->try_claim(request());
    EXPECT_TRUE(grant) << grant.error().message;
    if (!grant) return Epoch{};
    EXPECT_TRUE(one.engine->release(ref(*grant)));
    return grant->epoch;
  }
  void damage_slots(bool first, bool second) {
    std::string bytes = *disk->bytes(receiver::kEpochs);
    if (first) bytes[3] = '?';
    if (second) bytes[kEpochSlotBytes + 3] = '?';
    disk->place(receiver::kEpochs, Placed::file, bytes);
  }
  std::vector<ReceiverFault> repair(bool mend, bool force = false, const std::string& reason = {}) {
    const Client one = client();
    std::vector<ReceiverFault> found;
    passing([&] {
      auto faults = repair_receiver(disk->open(one.process), one.environment, {.root_id = "root"}, mend, force, reason);
      ASSERT_TRUE(faults) << faults.error().message;
      found = *faults;
    });
    return found;
  }
};

TEST_F(Keeping, F5_epochs_begin_with_the_clock_and_rise_by_one) {
  const Epoch first = turn();
  EXPECT_EQ(first.value(), static_cast<std::uint64_t>(clock->wall().since_origin.count() / 1'000) + 1);
  EXPECT_EQ(turn().value(), first.value() + 1);
  EXPECT_EQ(turn().value(), first.value() + 2);
}

TEST_F(Keeping, AFolderThatWasRemovedAndMadeAnewRepeatsNoEpoch) {
  Epoch highest;
  for (int round = 0; round < 5; ++round) {
    for (const std::string& name : names()) disk->erase(name);
    clock->advance(std::chrono::milliseconds(1));
    const Epoch next = turn();
    EXPECT_GT(next, highest);
    highest = next;
  }
}

TEST_F(Keeping, WhatIsDamagedAndRepairedTwiceInOneSecondRepeatsNoEpoch) {
  Epoch highest;
  for (int round = 0; round < 5; ++round) {
    highest = std::max(highest, turn());
    // A slot at a time pushes the epochs ahead of the clock; then nothing is left of the counter but what it gave.
    damage_slots(true, false);
    highest = std::max(highest, turn());
    const Client holder = client();
    auto grant = holder.engine->try_claim(request());
    ASSERT_TRUE(grant) << grant.error().message;
    EXPECT_GT(grant->epoch, highest);
    highest = grant->epoch;
    ASSERT_TRUE(holder.engine->revoke({*Key::parse(kReceiverKey), "because", true, std::nullopt}));
    damage_slots(true, true);
    EXPECT_TRUE(repair(true).at(0).why_not.empty());
    const Epoch next = turn();
    EXPECT_GT(next, highest);
    highest = next;
  }
}

TEST_F(Keeping, ANumberInASidecarThatCannotBeTrueOutvotesNoCounter) {
  const Epoch before = turn();
  const Client one = client();
  ASSERT_TRUE(one.engine->try_claim(request()));
  auto sidecar = decode_receiver_sidecar(*disk->bytes(kSidecarPath));
  ASSERT_TRUE(sidecar);
  sidecar->epoch = Epoch(Epoch::kLimit - 1);
  disk->place(kSidecarPath, Placed::file, encode(*sidecar));
  world->kill(one.process);
  auto grant = newcomer();
  ASSERT_TRUE(grant) << grant.error().message;
  EXPECT_EQ(grant->epoch.value(), before.value() + 2);
}

TEST_F(Keeping, OfADamagedSlotTheEpochsJump) {
  const Epoch before = turn();
  ASSERT_EQ(turn().value(), before.value() + 1);
  for (const bool first : {true, false}) {
    const Epoch highest = turn();
    damage_slots(first, !first);
    EXPECT_GT(turn().value(), highest.value() + 1'000) << "the damaged one may have been the higher";
    const Epoch next = turn();
    EXPECT_EQ(turn().value(), next.value() + 1) << "and goes on from there";
  }
}

TEST_F(Keeping, F1_with_both_slots_damaged_claims_are_refused_until_they_are_repaired) {
  const Epoch before = turn();
  damage_slots(true, true);
  EXPECT_EQ(refusal(), Code::epoch_unreadable);
  EXPECT_EQ(names(), std::vector<std::string>{receiver::kEpochs}) << "nothing of the claim is left";
  auto faults = repair(false);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].why_not.empty());
  EXPECT_EQ(refusal(), Code::epoch_unreadable) << "it was only looked at";
  faults = repair(true);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].why_not.empty()) << faults[0].why_not;
  EXPECT_GT(turn(), before);
  EXPECT_EQ(names(receiver::kQuarantine).size(), 1U) << "the damaged counter is kept";
}

TEST_F(Keeping, F8_a_copied_folder_jumps) {
  const Epoch before = turn();
  std::string bytes = *disk->bytes(receiver::kEpochs);
  const EpochSlot elsewhere{before, 424'242};
  disk->place(receiver::kEpochs, Placed::file, encode_epoch_slots(elsewhere, elsewhere));
  EXPECT_GT(turn(), Epoch(1'000'000'000)) << "its former place may have given higher ones since";
}

TEST_F(Keeping, D2_what_the_dead_left_is_swept_and_what_the_living_make_is_not) {
  // Somebody dies in the course of making a lease, and one of pi-amq too.
  const Client mortal = client();
  disk->faults(mortal.process)->at("create.write", 2, {fakes::Fault::Kind::die_after, Code::internal});
  ASSERT_FALSE(mortal.engine->try_claim(request()));
  disk->place(".receiver.prepare-a1B2c3/owner.json", Placed::file, "{}");
  disk->place(".receiver.released-gen-00112233-4455-4677-8899-aabbccddeeff/owner.json", Placed::file, "{}");
  disk->place(receiver::kRevokedNew, Placed::file, "{}");
  disk->place(receiver::kEpochsNew, Placed::file, "");
  disk->place(".receiver.mine", Placed::file, "of the user");
  // Another is about to.
  const Client slow = client();
  std::vector<std::string> meanwhile;
  disk->faults(slow.process)->before("link", 1, [&] {
    clock->advance(std::chrono::minutes(2));
    const ProcessNumber dead = world->spawn({});
    place_owner(owner_of(dead));
    world->kill(dead);
    const Client other = client();
    auto grant = other.engine->try_claim(request());
    ASSERT_TRUE(grant) << grant.error().message;
    ASSERT_TRUE(other.engine->release(ref(*grant)));
    meanwhile = names();
  });
  auto grant = slow.engine->try_claim(request());
  ASSERT_TRUE(grant) << grant.error().message;
  const auto has = [&](const std::string& begin) {
    return std::ranges::count_if(meanwhile, [&](const auto& name) { return name.starts_with(begin); });
  };
  EXPECT_EQ(has(".receiver.prepare-"), 1) << "that of the slow one";
  EXPECT_EQ(has(".receiver.released-"), 0);
  EXPECT_EQ(has(receiver::kRevokedNew) + has(receiver::kEpochsNew), 0);
  EXPECT_EQ(has(".receiver.mine"), 1);
}

TEST_F(Keeping, EvidenceIsKeptButNotForEver) {
  for (int i = 0; i < 200; ++i) {
    const ProcessNumber dead = world->spawn({});
    place_owner(owner_of(dead, "gen-" + std::to_string(i)));
    world->kill(dead);
    clock->advance(std::chrono::seconds(1));
    turn();
  }
  const auto kept = names(receiver::kQuarantine);
  EXPECT_LE(kept.size(), 65U);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const auto& name) { return name.starts_with("receiver.gen-199."); }));
  EXPECT_FALSE(std::ranges::any_of(kept, [](const auto& name) { return name.starts_with("receiver.gen-0."); }));
}

TEST_F(Keeping, WhoWasSweptAwayBeforeItHadLockedItsFolderClaimsAnew) {
  const Client stopped = client();
  disk->faults(stopped.process)->before("create.write", 1, [&] {
    for (const std::string& name : names()) {
      if (receiver::is_own_prepared(name)) disk->erase(name);
    }
  });
  auto grant = stopped.engine->try_claim(request());
  EXPECT_TRUE(grant) << grant.error().message;
}

// The claim is made once the folder has its name: what goes wrong from there on refuses nothing.
TEST_F(Keeping, NoClaimIsRefusedWhoseLeaseIsInPlace) {
  for (const bool lost : {false, true}) {
    for (const bool blind : {false, true}) {
      const Client one = client();
      disk->faults(one.process)->before("move", 1, [&] {
        using Kind = fakes::Fault::Kind;
        if (lost) disk->faults(one.process)->at("move", 1, {Kind::lose_answer, Code::input_output});
        if (blind) disk->faults(one.process)->at("look", 1, {Kind::refuse, Code::input_output});
      });
      auto grant = one.engine->try_claim(request());
      ASSERT_TRUE(there(kOwnerPath));
      if (lost && blind) {
        ASSERT_FALSE(grant);
        EXPECT_EQ(grant.error().code, Code::unknown_outcome) << grant.error().message;
      } else {
        ASSERT_TRUE(grant) << grant.error().message;
        EXPECT_TRUE(one.engine->verify(ref(*grant)));
        EXPECT_TRUE(one.engine->release(ref(*grant)));
      }
    }
  }
  const auto grant = newcomer();
  EXPECT_TRUE(grant) << "the one of which nobody knew counts as over: " << grant.error().message;
}

TEST_F(Keeping, NothingIsWrongWithAHealthyNamespace) {
  turn();
  place_owner(owner_of(world->spawn({})));
  EXPECT_TRUE(repair(true).empty());
}

TEST_F(Keeping, RepairMovesADamagedLeaseByForceAndNeverALivingOnes) {
  disk->place(kOwnerPath, Placed::file, "{");
  auto faults = repair(true);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_FALSE(faults[0].why_not.empty());
  EXPECT_TRUE(there(kOwnerPath));
  faults = repair(true, true, "it is over, I looked");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].why_not.empty()) << faults[0].why_not;
  EXPECT_FALSE(there(kOwnerPath));
  EXPECT_TRUE(newcomer());
  ASSERT_TRUE(last_.engine->revoke({*Key::parse(kReceiverKey), "next", true, std::nullopt}));

  // What is left of the record names a process that runs.
  std::string bytes = encode(owner_of(world->spawn({})));
  bytes.insert(bytes.find("\"schema\""), "\"more\": 1,\n  ");
  disk->place(kOwnerPath, Placed::file, bytes);
  faults = repair(true, true, "I did not look");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].why_not.find("lives"), std::string::npos) << faults[0].why_not;
  EXPECT_EQ(disk->bytes(kOwnerPath), bytes);
}

TEST_F(Keeping, RepairMovesAStaleGuardAndByForceOneThatCannotBeJudged) {
  const ProcessNumber dead = world->spawn({});
  place_guard(record_of(dead));
  world->kill(dead);
  EXPECT_TRUE(repair(true).at(0).why_not.empty());
  EXPECT_FALSE(there(receiver::kGuard));
  disk->place(receiver::kGuard, Placed::file, "");
  EXPECT_FALSE(repair(true).at(0).why_not.empty());
  EXPECT_TRUE(there(receiver::kGuard));
  EXPECT_TRUE(repair(true, true, "left by a crash").at(0).why_not.empty());
  EXPECT_FALSE(there(receiver::kGuard));
  place_guard(record_of(world->spawn({})));
  EXPECT_NE(repair(true, true, "by mistake").at(0).why_not.find("lives"), std::string::npos);
  EXPECT_TRUE(there(receiver::kGuard));
}

TEST_F(Keeping, RepairMovesIntentsThatCannotBeJudged) {
  disk->place(std::string(receiver::kReclaims) + "/reclaim.a.json", Placed::file, "[]");
  disk->place(std::string(receiver::kReclaims) + "/reclaim.b.json", Placed::file, "[]");
  EXPECT_EQ(repair(true).size(), 1U);
  EXPECT_EQ(repair(true, true, "left by a crash").size(), 2U);
  EXPECT_TRUE(names(receiver::kReclaims).empty());
  EXPECT_EQ(names(receiver::kQuarantine).size(), 2U);
  EXPECT_TRUE(newcomer());
}

TEST_F(Keeping, AfterALossOfPowerTheNamespaceIsTakenUpWhateverReachedTheDisk) {
  for (const bool names_survive : {false, true}) {
    const Client one = client();
    auto grant = one.engine->try_claim(request());
    ASSERT_TRUE(grant) << grant.error().message;
    disk->lose_power({.names_survive = names_survive});
    world->reboot("machine-a");
    auto next = newcomer();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_GT(next->epoch, grant->epoch);
    ASSERT_TRUE(last_.engine->release(ref(*next)));
  }
}

}  // namespace
}  // namespace tenure::tests
