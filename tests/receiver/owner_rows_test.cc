// What a claim makes of each thing that can lie under receiver.lock: pi-amq's table, with proof in place of its
// guesses.
#include <filesystem>
#include <fstream>

#include "receiver/receiver_world.h"

namespace tenure::tests {
namespace {

class OwnerRows : public ReceiverWorld {};

TEST_F(OwnerRows, AnEmptyNamespaceIsTakenAndHoldsTheLeaseAndNothingElse) {
  const Client one = client();
  ClaimRequest wanted = request();
  wanted.session = "session-7";
  wanted.session_file = "/home/pi/session-7.jsonl";
  auto grant = one.engine->try_claim(wanted);
  ASSERT_TRUE(grant) << grant.error().message;
  EXPECT_EQ(names(), (std::vector<std::string>{receiver::kLease, receiver::kEpochs}));
  EXPECT_EQ(names(receiver::kLease), (std::vector<std::string>{receiver::kOwner, receiver::kLife, receiver::kSidecar}));
  auto owner = decode_receiver_owner(*disk->bytes(kOwnerPath));
  ASSERT_TRUE(owner) << owner.error().message;
  EXPECT_EQ(owner->session_id, "session-7");
  EXPECT_EQ(owner->session_file, "/home/pi/session-7.jsonl");
  EXPECT_EQ(owner->root_id, "root");
  EXPECT_EQ(owner->process.pid, static_cast<std::uint64_t>(world->pid_of(one.process)));
  EXPECT_EQ(owner->process.start_identity, std::to_string(world->identity_of(one.process).start_ticks));
  EXPECT_EQ(owner->process.boot_identity, world->identity_of(one.process).boot_id);
  EXPECT_EQ(owner->process.executable, "/fake/bin/program");
  EXPECT_EQ(owner->process.hostname, "host-a");
  EXPECT_EQ(decode_receiver_guard(*disk->bytes(kLifePath))->generation, owner->process.generation);
  ASSERT_TRUE(one.engine->release(ref(*grant)));
  EXPECT_EQ(names(), std::vector<std::string>{receiver::kEpochs});
}

TEST_F(OwnerRows, TheSameProcessHoldsItOnce) {
  const Client one = client();
  auto first = one.engine->try_claim(request("owner", "part-1"));
  ASSERT_TRUE(first);
  EXPECT_EQ(one.engine->try_claim(request("owner", "part-2")).error().code, Code::held_by_part);
  EXPECT_EQ(one.engine->try_claim(request("other")).error().code, Code::held);
  auto again = one.engine->try_claim(request("owner", "part-1"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(again->epoch, first->epoch);
  EXPECT_EQ(one.engine->verify(ref(*first)).error().code, Code::lost);
  EXPECT_TRUE(one.engine->verify(ref(*again)));
}

TEST_F(OwnerRows, ALivingOwnerOfPiAmqIsHeldToBeSo) {
  place_owner(owner_of(world->spawn({})));
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(says("runs since the recorded tick")) << message_;
  auto seen = last_.engine->holder(*Key::parse(kReceiverKey));
  ASSERT_TRUE(seen && seen->holder);
  EXPECT_EQ(seen->holder->session, "session-1");
  EXPECT_EQ(seen->verdict.liveness, Liveness::live);
  EXPECT_TRUE(seen->epoch.none()) << "pi-amq gives none";
}

TEST_F(OwnerRows, AnotherRootIdIsHeldAllTheSame) {
  ReceiverOwner owner = owner_of(world->spawn({}));
  owner.root_id = "another";
  place_owner(owner);
  EXPECT_EQ(refusal(), Code::held);
}

// Each proof of death: gone, another start, another boot.
TEST_F(OwnerRows, TheDeadAreDisplacedAndTheirLeaseIsKept) {
  const auto check = [&](const ReceiverOwner& owner, const char* how) {
    SCOPED_TRACE(how);
    place_owner(owner);
    auto grant = newcomer();
    ASSERT_TRUE(grant) << grant.error().message;
    ASSERT_TRUE(grant->displaced);
    EXPECT_EQ(grant->displaced->holder->session, "session-1");
    const auto kept = names(receiver::kQuarantine);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_TRUE(kept.front().starts_with("receiver.gen-1.")) << kept.front();
    const std::string evidence = std::string(receiver::kQuarantine) + "/" + kept.front();
    EXPECT_EQ(disk->bytes(evidence + "/" + receiver::kOwner), encode(owner));
    EXPECT_TRUE(std::ranges::any_of(grant->notes, [&](const auto& note) { return note.ends_with(evidence); }));
    ASSERT_TRUE(last_.engine->release(ref(*grant)));
    disk->erase(receiver::kQuarantine);
  };
  const ProcessNumber gone = world->spawn({});
  ReceiverOwner owner = owner_of(gone);
  world->kill(gone);
  check(owner, "gone");
  const ProcessNumber replaced = world->spawn({});
  owner = owner_of(replaced);
  world->reuse_pid(replaced);
  check(owner, "another start");
  owner = owner_of(world->spawn({}));
  owner.process.boot_identity = "66666666-7777-8888-9999-000000000000";
  check(owner, "another boot");
  const ProcessNumber zombie = world->spawn({});
  owner = owner_of(zombie);
  world->make_zombie(zombie);
  check(owner, "a zombie");
}

TEST_F(OwnerRows, M1_the_executable_is_no_part_of_an_identity) {
  ReceiverOwner owner = owner_of(world->spawn({}));
  owner.process.executable = "/usr/bin/node (deleted)";
  place_owner(owner);
  EXPECT_EQ(refusal(), Code::held);
}

TEST_F(OwnerRows, L3_a_renamed_host_locks_nobody_out_and_is_no_death) {
  const Client one = client({.host = "old-name"});
  auto grant = one.engine->try_claim(request());
  ASSERT_TRUE(grant);
  EXPECT_EQ(refusal({.host = "new-name"}), Code::held);
  const Client same = reopen(one.process);
  EXPECT_TRUE(one.engine->release(ref(*grant))->released);
  ReceiverOwner owner = owner_of(world->spawn({}));
  owner.process.hostname = "old-name";
  place_owner(owner);
  EXPECT_EQ(refusal({.host = "new-name"}), Code::held) << "this kernel runs it, whatever it is called";
}

TEST_F(OwnerRows, OfAnotherHostIsRemote) {
  ReceiverOwner owner = owner_of(world->spawn({}));
  owner.process.hostname = "elsewhere";
  owner.process.boot_identity = "66666666-7777-8888-9999-000000000000";
  place_owner(owner);
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(says("remote-owner")) << message_;
  EXPECT_EQ(disk->bytes(kOwnerPath), encode(owner));
}

TEST_F(OwnerRows, M9_a_record_of_macos_is_unknown) {
  ReceiverOwner owner = owner_of(world->spawn({}));
  owner.process.start_identity = "Mon Nov 30 10:26:50 2026";
  owner.process.boot_identity = "{ sec = 1764498410, usec = 0 } Sun Nov 30 10:26:50 2026";
  place_owner(owner);
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(says("unverifiable-owner")) << message_;
}

TEST_F(OwnerRows, M4_who_cannot_be_seen_is_unverifiable) {
  const ProcessNumber dead = world->spawn({});
  place_owner(owner_of(dead));
  world->kill(dead);
  const Birth container{.pid_namespace = 4'026'533'000};
  EXPECT_EQ(refusal(container), Code::held);
  EXPECT_TRUE(says("unverifiable-owner")) << message_;
  EXPECT_TRUE(newcomer(container, {.root_id = "root", .one_namespace = true})) << "its user says that all are in one";
}

TEST_F(OwnerRows, AnOwnerInAContainerIsSeenFromOutsideByItsOwnNumber) {
  const ProcessNumber inside = world->spawn({.pid = 7, .pid_namespace = 4'026'533'000});
  place_owner(owner_of(inside));
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(says("runs since the recorded tick")) << message_;
  world->kill(inside);
  EXPECT_TRUE(newcomer()) << "nowhere under this kernel";
}

TEST_F(OwnerRows, L4_whatever_is_no_owner_record_is_corrupt_and_stays) {
  std::ifstream table(TENURE_SOURCE_DIR "/tests/interop/pi-amq/cases.tsv");
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    const std::string file = line.substr(0, line.find('\t'));
    if (!file.starts_with("owner.") || line.ends_with("\tread")) continue;
    SCOPED_TRACE(file);
    std::ifstream text(TENURE_SOURCE_DIR "/tests/interop/pi-amq/" + file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()};
    disk->place(kOwnerPath, Placed::file, bytes);
    EXPECT_EQ(refusal(), Code::held);
    EXPECT_TRUE(says("corrupt-owner")) << message_;
    EXPECT_EQ(disk->bytes(kOwnerPath), bytes);
    ++rows;
  }
  EXPECT_GT(rows, 40);
}

TEST_F(OwnerRows, AThingThatIsNoLeaseIsCorrupt) {
  for (const Placed kind : {Placed::file, Placed::link, Placed::fifo, Placed::directory}) {
    disk->erase(receiver::kLease);
    disk->place(receiver::kLease, kind);
    EXPECT_EQ(refusal(), Code::held) << static_cast<int>(kind);
    EXPECT_TRUE(says("corrupt-owner")) << message_;
  }
}

TEST_F(OwnerRows, WhoComesBetweenTheLookAndTheRenameIsNotDisplaced) {
  const ProcessNumber dead = world->spawn({});
  place_owner(owner_of(dead));
  world->kill(dead);
  const ReceiverOwner living = owner_of(world->spawn({}), "gen-2");
  const Client one = client();
  // The lease goes to quarantine by the first move.
  disk->faults(one.process)->before("move", 1, [&] {
    disk->erase(receiver::kLease);
    place_owner(living);
  });
  Result<Grant> claimed = fail(Code::internal, "");
  passing([&] { claimed = one.engine->try_claim(request()); });
  ASSERT_FALSE(claimed) << "a living owner was displaced";
  EXPECT_EQ(disk->bytes(kOwnerPath), encode(living));
  EXPECT_TRUE(names(receiver::kQuarantine).empty());
  EXPECT_FALSE(there(receiver::kGuard));
}

TEST_F(OwnerRows, WhoPutsItsLeaseThereWithoutTheGuardIsNotReplaced) {
  const ReceiverOwner living = owner_of(world->spawn({}), "gen-2");
  const Client one = client();
  disk->faults(one.process)->before("move", 1, [&] { place_owner(living); });
  Result<Grant> claimed = fail(Code::internal, "");
  passing([&] { claimed = one.engine->try_claim(request()); });
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code, Code::held) << claimed.error().message;
  EXPECT_EQ(names(), (std::vector<std::string>{receiver::kLease, receiver::kEpochs})) << "nothing is left behind";
}

// A holder gives back and another takes it, between any two calls of the look.
TEST_F(OwnerRows, D6_a_hand_off_under_a_look_is_never_called_damage) {
  int hand_offs = 0;
  for (const char* call : {"look", "open_folder", "read", "probe_life"}) {
    for (std::uint64_t nth = 1; nth <= 4; ++nth) {
      SCOPED_TRACE(std::string(call) + " " + std::to_string(nth));
      const Client first = client();
      const Client second = client();
      const Client onlooker = client();
      auto grant = first.engine->try_claim(request("first"));
      ASSERT_TRUE(grant) << grant.error().message;
      std::optional<Grant> next;
      disk->faults(onlooker.process)->before(call, nth, [&] {
        ASSERT_TRUE(first.engine->release(ref(*grant)));
        auto taken = second.engine->try_claim(request("second"));
        ASSERT_TRUE(taken) << taken.error().message;
        next = *taken;
        ++hand_offs;
      });
      auto seen = onlooker.engine->holder(*Key::parse(kReceiverKey));
      ASSERT_TRUE(seen) << seen.error().message;
      EXPECT_EQ(seen->state, State::held) << seen->note;
      EXPECT_EQ(seen->verdict.liveness, Liveness::live) << seen->verdict.evidence;
      disk->faults(onlooker.process)->clear();
      ASSERT_TRUE(next ? second.engine->release(ref(*next)) : first.engine->release(ref(*grant)));
    }
  }
  EXPECT_GE(hand_offs, 6);
}

TEST_F(OwnerRows, OfOursWithADamagedOwnerRecordTheSidecarSpeaks) {
  const Client one = client();
  auto grant = one.engine->try_claim(request());
  ASSERT_TRUE(grant);
  disk->place(kOwnerPath, Placed::file, "{");
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(says("corrupt-owner") && says("life lock is held")) << message_;
  EXPECT_TRUE(one.engine->verify(ref(*grant)));
  world->kill(one.process);
  auto taken = newcomer();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_GT(taken->epoch, grant->epoch);
}

// Its lock, and what its holder remembers, decide: nobody else gets in, and it is written again.
TEST_F(OwnerRows, M19_of_ours_with_a_damaged_sidecar_the_lock_speaks_and_the_holder_writes_it_again) {
  for (const Placed kind : {Placed::file, Placed::directory, Placed::link}) {
    const Client one = client();
    auto grant = one.engine->try_claim(request());
    ASSERT_TRUE(grant) << grant.error().message;
    const std::string whole = *disk->bytes(kSidecarPath);
    disk->erase(kSidecarPath);
    disk->place(kSidecarPath, kind, "{");
    EXPECT_EQ(refusal({.pid_namespace = 4'026'533'000}), Code::held) << message_;
    EXPECT_TRUE(says("life lock is held")) << message_;
    // Whoever only has the handle knows neither that it is lost nor that it is not.
    EXPECT_EQ(last_.engine->verify(ref(*grant)).error().code, Code::damaged);
    EXPECT_EQ(last_.engine->release(ref(*grant)).error().code, Code::damaged);
    auto standing = one.engine->verify(ref(*grant));
    ASSERT_TRUE(standing) << standing.error().message;
    EXPECT_TRUE(standing->needs_beat);
    auto beat = one.engine->beat(ref(*grant));
    ASSERT_TRUE(beat) << beat.error().message;
    EXPECT_EQ(disk->bytes(kSidecarPath), whole);
    EXPECT_TRUE(last_.engine->verify(ref(*grant)));
    ASSERT_TRUE(one.engine->release(ref(*grant)));
  }
  const Client one = client();
  ASSERT_TRUE(one.engine->try_claim(request()));
  disk->place(kSidecarPath, Placed::file, "{");
  world->kill(one.process);
  EXPECT_TRUE(newcomer());
}

// Whatever was damaged beside it, its holder can give it back.
TEST_F(OwnerRows, OfOursWithEitherRecordDamagedItIsGivenBack) {
  for (const std::string& path : {kOwnerPath, kSidecarPath}) {
    const Client one = client();
    auto grant = one.engine->try_claim(request());
    ASSERT_TRUE(grant) << grant.error().message;
    disk->place(path, Placed::file, "{");
    auto released = one.engine->release(ref(*grant));
    ASSERT_TRUE(released) << path << ": " << released.error().message;
    EXPECT_TRUE(released->released);
    EXPECT_EQ(names(), std::vector<std::string>{receiver::kEpochs});
  }
}

}  // namespace
}  // namespace tenure::tests
