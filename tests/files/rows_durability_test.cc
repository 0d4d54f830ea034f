// Rows D and S: what is left on the disk, and what others may do to it.
#include <set>
#include <thread>

#include "files/rows.h"

namespace tenure::tests {
namespace {

class RowsD : public Rows {};
class RowsS : public Rows {};

// D1, D3 and D5 are tests of whole files: deaths_test.cc kills at each call and takes the power, faults_test.cc fills
// the disk.

TEST_F(RowsD, D2_a_killed_writers_temporary_file_is_swept_by_the_next_claim_and_agentmuxs_is_left_alone) {
  world.disk->place("k.tmp", Placed::file, "half a record");
  world.disk->place(".registry-tmp-abcdef.json", Placed::file, "{}");
  hold();
  EXPECT_FALSE(has("k.tmp"));
  EXPECT_TRUE(has(".registry-tmp-abcdef.json"));
  ASSERT_TRUE(holder.engine->release(ref(*held)));
  EXPECT_FALSE(has("k.lease.json"));
}

TEST_F(RowsD, D2_a_key_leaves_a_fixed_number_of_files_however_often_it_is_used) {
  for (int round = 0; round < 30; ++round) {
    FilesClient client = world.client();
    auto grant = claim_of(client);
    ASSERT_TRUE(grant) << grant.error().message;
    if (round % 3 == 0) {
      world.world->kill(client.number);
    } else if (round % 3 == 1) {
      ASSERT_TRUE(world.client().engine->revoke({key("k"), "round", true, std::nullopt}));
    } else {
      ASSERT_TRUE(client.engine->release(ref(*grant)));
    }
  }
  EXPECT_LE(world.disk->names().size(), 5U);
}

TEST_F(RowsD, D2_evidence_is_bounded_and_says_when_it_is_full) {
  std::optional<Error> full;
  for (int round = 0; round < 20 && !full; ++round) {
    world.disk->place("k.lease.json", Placed::file, "damage " + std::to_string(round));
    auto revoked = world.client().engine->revoke({key("k"), "round", true, std::nullopt});
    if (!revoked) full = revoked.error();
  }
  ASSERT_TRUE(full);
  EXPECT_EQ(full->code, Code::limit_reached);
  EXPECT_NE(full->remedy.find("k.evidence-*"), std::string::npos) << full->remedy;
  EXPECT_EQ(world.disk->bytes("k.evidence-1"), "damage 0");
}

TEST_F(RowsD, D4_the_folder_is_synced_before_a_claim_or_a_revocation_is_told) {
  hold();
  const auto claimed = world.disk->faults(holder.number)->calls();
  EXPECT_EQ(std::ranges::count(claimed, "sync"), 1);
  auto chief = world.client();
  ASSERT_TRUE(chief.engine->revoke({key("k"), "because", true, std::nullopt}));
  world.disk->lose_power();
  EXPECT_FALSE(has("k.lease.json")) << "the power brought back what was taken away";
}

TEST_F(RowsD, D6_a_look_during_hand_overs_sees_a_holder_or_nobody_and_never_damage) {
  std::atomic<bool> over{false};
  std::thread turns([&] {
    auto a = world.client();
    auto b = world.client();
    for (int round = 0; round < 400; ++round) {
      auto grant = (round % 2 == 0 ? a : b).engine->try_claim(request("k", "turn"));
      EXPECT_TRUE(grant) << grant.error().message;
      const auto released = (round % 2 == 0 ? a : b).engine->release(ref(grant.value()));
      EXPECT_TRUE(released) << released.error().message;
    }
    over = true;
  });
  auto observer = world.client();
  int looks = 0;
  while (!over) {
    auto seen = observer.engine->holder(key("k"));
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_NE(seen->state, State::damaged) << seen->note;
    EXPECT_FALSE(seen->state == State::held && seen->verdict.liveness == Liveness::dead) << seen->verdict.evidence;
    ++looks;
  }
  turns.join();
  EXPECT_GT(looks, 0);
}

TEST_F(RowsD, D7_evidence_is_what_lay_there_under_the_name_of_its_key) {
  hold();
  world.disk->place("k.lease.json", Placed::file, "first damage");
  ASSERT_TRUE(holder.engine->beat(ref(*held)));
  world.disk->place("k.lease.json", Placed::file, "second damage");
  ASSERT_TRUE(holder.engine->beat(ref(*held)));
  EXPECT_EQ(world.disk->bytes("k.evidence-1"), "first damage");
  EXPECT_EQ(world.disk->bytes("k.evidence-2"), "second damage");
  EXPECT_TRUE(still_mine()) << "and the living record was not among it";
}

// ---- S --------------------------------------------------------------------------------------------------------------

TEST_F(RowsS, S1_no_key_leaves_the_folder_or_meets_another) {
  const std::vector<std::string> keys = {"../../x", "/etc/passwd",         "a/b", "a_b", ".",
                                         "..",      std::string(300, 'n'), "~",   "a\\b"};
  std::set<std::string> owners;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto grant = holder.engine->try_claim(request(keys[i], "owner-" + std::to_string(i)));
    ASSERT_TRUE(grant) << keys[i] << ": " << grant.error().message;
  }
  for (const std::string& name : world.disk->names()) {
    EXPECT_EQ(name.find('/'), std::string::npos) << name;
    EXPECT_LE(name.size(), 255U);
  }
  auto all = holder.engine->list("");
  ASSERT_TRUE(all);
  for (const Observation& each : *all) owners.insert(each.holder->owner);
  EXPECT_EQ(owners.size(), keys.size());
  EXPECT_FALSE(Key::parse(""));
  EXPECT_FALSE(Key::parse("a\nb"));
}

TEST_F(RowsS, S1_a_record_under_anothers_name_is_no_record_of_this_key) {
  AgentMux::Text other = foreign();
  other.instance_id = "another";
  place(other);
  EXPECT_EQ(seen().state, State::damaged);
  EXPECT_EQ(refusal(), Code::held);
}

TEST_F(RowsS, S2_nothing_odd_under_any_name_hangs_a_verb_or_is_taken_for_a_file) {
  for (const char* ending : {"lease.json", "lock", "epoch", "life", "seen", "revoked.json"}) {
    for (const Placed kind : {Placed::fifo, Placed::directory, Placed::link, Placed::foreign}) {
      SCOPED_TRACE(std::string(ending) + " " + std::to_string(static_cast<int>(kind)));
      FilesWorld odd;
      auto client = odd.client();
      odd.disk->place(std::string("k.") + ending, kind);
      auto grant = claim_of(client);
      if (!grant) {
        EXPECT_TRUE(grant.error().code == Code::held || grant.error().code == Code::damaged ||
                    grant.error().code == Code::epoch_unreadable);
        EXPECT_NE(grant.error().message.find("k"), std::string::npos);
        odd.clock->advance(kPast);
        // Nothing else says which numbers were granted: that takes an operator.
        if (std::string(ending) == "epoch") {
          EXPECT_TRUE(client.engine->revoke({key("k"), "odd", true, std::nullopt}));
        }
        grant = claim_of(client);
      }
      if (std::string(ending) == "lock") {
        // The one file that is never replaced: whoever put a thing there must take it away.
        ASSERT_FALSE(grant);
        EXPECT_NE(grant.error().message.find("k.lock"), std::string::npos) << grant.error().message;
        odd.disk->erase("k.lock");
        grant = claim_of(client);
      }
      ASSERT_TRUE(grant) << grant.error().message;
      EXPECT_TRUE(client.engine->verify(ref(*grant)));
      EXPECT_TRUE(client.engine->release(ref(*grant)));
    }
  }
}

TEST_F(RowsS, S3_a_record_that_may_not_be_read_hides_no_other) {
  hold();
  world.disk->place("closed.lease.json", Placed::unreadable);
  auto all = world.client().engine->list("");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].key.text(), "closed");
  EXPECT_EQ((*all)[0].state, State::damaged);
  EXPECT_EQ((*all)[1].holder->owner, "holder");
}

TEST_F(RowsS, S3_a_look_needs_to_read_the_record_alone) {
  hold();
  for (const char* name : {"k.epoch", "k.lock"}) world.disk->place(name, Placed::unreadable);
  EXPECT_EQ(seen().holder->owner, "holder");
  world.disk->erase("k.lease.json");
  EXPECT_EQ(seen().state, State::free);
}

TEST_F(RowsS, S4_what_a_look_shows_is_not_enough_to_release) {
  hold();
  const ClaimRef guessed{key("k"), ClaimId::parse("00000000000000000000000000000001").value(), seen().epoch};
  EXPECT_EQ(world.client().engine->release(guessed).error().code, Code::lost);
  EXPECT_EQ(holder.engine->release({key("k"), ClaimId{}, held->epoch}).error().code, Code::lost);
  EXPECT_TRUE(still_mine());
}

TEST_F(RowsS, S4_a_lease_of_agentmux_without_a_claim_id_is_nobodys_to_release) {
  AgentMux::Text old = foreign();
  place(old, AgentMux::Shape::second);
  EXPECT_EQ(holder.engine->release({key("k"), ClaimId{}, Epoch(7)}).error().code, Code::lost);
  EXPECT_TRUE(has("k.lease.json"));
}

TEST_F(RowsS, S5_forged_numbers_and_times_are_refused_with_the_reason) {
  AgentMux::Text forged = foreign();
  forged.epoch = ~0ULL;
  world.disk->place("k.lease.json", Placed::file, forged.in(AgentMux::Shape::third));
  EXPECT_EQ(seen().state, State::damaged);
  EXPECT_NE(seen().note.find("epoch"), std::string::npos) << seen().note;
  world.clock->advance(kPast);
  FilesClient client = world.client();
  auto grant = claim_of(client);
  if (!grant) {
    world.clock->advance(kPast);
    grant = claim_of(client);
  }
  ASSERT_TRUE(grant) << grant.error().message;
  EXPECT_TRUE(grant->epoch.credible()) << "a forged number exhausts nothing";
}

TEST_F(RowsS, S6_a_record_without_end_is_damage_and_not_read_whole) {
  world.disk->place("k.lease.json", Placed::file, std::string(10'000'000, ' '));
  EXPECT_EQ(seen().state, State::damaged);
  EXPECT_EQ(refusal(), Code::held);
  world.disk->place("k.seen", Placed::file, std::string(10'000'000, ' '));
  world.clock->advance(kPast);
  EXPECT_EQ(refusal(), Code::held) << "its first sight was lost with the file";
  world.clock->advance(kPast);
  EXPECT_TRUE(claim());
}

}  // namespace
}  // namespace tenure::tests
