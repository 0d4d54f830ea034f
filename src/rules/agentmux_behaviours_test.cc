// The 24 behaviours of AgentMux's lease store, as far as rules decide them: all of them by its own rule
// (`?expiry=age`), and the seven in which `?expiry=proof` differs while the holder lives. "boot-a" and "boot-b" are
// owners, each a process of its own. What is of files, handles and text is shown over the engine.
#include <gtest/gtest.h>

#include "rules/paper_store.h"

namespace tenure::rules {
namespace {

using worlds::PaperStore;
using Answer = ClaimVerdict::Answer;
using Current = CurrentVerdict::Answer;
using namespace std::chrono_literals;

constexpr Duration kPast = kAgentmuxTtl + 1ms;

struct AgentmuxBehaviours : ::testing::Test {
  PaperStore store{Expiry::age};
  auto a(const std::string& block = "block-1") { return store.claim("boot-a", block, 1); }
  auto b(const std::string& block = "block-1") { return store.claim("boot-b", block, 2); }
};
struct ProofBehaviours : ::testing::Test {
  PaperStore store{Expiry::proof};
  auto a(const std::string& block = "block-1") { return store.claim("boot-a", block, 1); }
  auto b(const std::string& block = "block-1") { return store.claim("boot-b", block, 2); }
};

TEST_F(AgentmuxBehaviours, b01_a_claim_on_an_empty_store_succeeds) {
  ASSERT_TRUE(a());
  EXPECT_EQ(store.last.answer, Answer::free);
  EXPECT_EQ(store.record->epoch, Epoch{1});
}

TEST_F(AgentmuxBehaviours, b02_a_fresh_lease_of_another_boot_is_refused) {
  ASSERT_TRUE(a());
  store.now = kAgentmuxTtl;  // equal counts as fresh
  EXPECT_FALSE(b());
  EXPECT_EQ(store.last.answer, Answer::held);
}

TEST_F(AgentmuxBehaviours, b03_a_reclaim_by_the_same_owner_keeps_the_epoch) {
  const auto first = a();
  const auto second = a();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(store.last.answer, Answer::reclaim);
  EXPECT_EQ(second->epoch, first->epoch);
}

TEST_F(AgentmuxBehaviours, b04_after_the_ttl_another_owner_gets_it_even_from_the_living) {
  ASSERT_TRUE(a());
  store.now = kPast;
  EXPECT_TRUE(b());
  EXPECT_EQ(store.last.answer, Answer::over_expired);
}

TEST_F(AgentmuxBehaviours, b05_a_fresh_damaged_file_is_held_for_claim_and_lookup) {
  store.damaged = true;
  store.lock_file = true;
  store.counter = worlds::at(3);
  EXPECT_FALSE(a());
  EXPECT_EQ(store.last.answer, Answer::held);
  EXPECT_TRUE(store.held_for_a_stranger());
}

TEST_F(AgentmuxBehaviours, b06_a_damaged_file_that_nobody_rewrote_for_a_ttl_is_taken_over) {
  store.damaged = true;
  store.lock_file = true;
  store.counter = worlds::at(3);
  store.now = kAgentmuxTtl;
  EXPECT_FALSE(a());
  store.now = kPast;
  const auto taken = a();
  ASSERT_TRUE(taken);
  EXPECT_EQ(store.last.answer, Answer::over_damaged);
  EXPECT_EQ(taken->epoch, Epoch{4});
}

TEST_F(AgentmuxBehaviours, b07_the_oldest_format_is_honoured) {
  store.lock_file = true;
  store.write({"boot-a", "", {}, ClaimId{}, Epoch{}, 0s, {}});  // no epoch, no host, no claim id
  store.holder_is = judge_foreign_as_agentmux(1, "", 0, worlds::gone(), worlds::standpoint()).liveness;
  EXPECT_FALSE(b());
  EXPECT_EQ(store.last.answer, Answer::held);
  store.now = kPast;
  EXPECT_TRUE(b());
}

TEST_F(AgentmuxBehaviours, b08_epochs_grow_over_release_and_claim_of_different_owners) {
  Epoch last;
  for (int round = 0; round < 4; ++round) {
    const auto handle = round % 2 == 0 ? a() : b();
    ASSERT_TRUE(handle);
    EXPECT_GT(handle->epoch, last);
    last = handle->epoch;
    ASSERT_TRUE(store.release(*handle));
  }
}

TEST_F(AgentmuxBehaviours, b09_epochs_grow_over_a_takeover_by_ttl) {
  const auto first = a();
  store.now = kPast;
  const auto second = b();
  ASSERT_TRUE(first && second);
  EXPECT_GT(second->epoch, first->epoch);
}

TEST_F(AgentmuxBehaviours, b10_a_holder_whose_pid_does_not_run_is_displaced_at_once) {
  ASSERT_TRUE(a());
  store.holder_is = judge_foreign_as_agentmux(4'294'967'295, "host-a", 0, {}, worlds::standpoint()).liveness;
  ASSERT_TRUE(b());
  EXPECT_EQ(store.last.answer, Answer::over_dead);
  EXPECT_EQ(store.record->owner, "boot-b");
}

TEST_F(AgentmuxBehaviours, b11_a_running_pid_with_another_start_time_does_not_protect_the_lease) {
  ASSERT_TRUE(a());
  const ProcessSight runs = worlds::running();
  store.holder_is =
      judge_foreign_as_agentmux(1, "host-a", runs.start_wall_seconds - 1, runs, worlds::standpoint()).liveness;
  EXPECT_TRUE(b());
  EXPECT_EQ(store.last.answer, Answer::over_dead);
}

TEST_F(AgentmuxBehaviours, b12_a_holder_on_another_host_is_never_presumed_dead) {
  ASSERT_TRUE(a());
  store.holder_is = judge_foreign_as_agentmux(1, "host-b", 1, worlds::gone(), worlds::standpoint()).liveness;
  EXPECT_FALSE(b());
}

TEST_F(AgentmuxBehaviours, b13_renewing_keeps_others_out) {
  const auto handle = a();
  for (int beat = 0; beat < 10; ++beat) {
    store.now += kAgentmuxHeartbeat;
    ASSERT_EQ(store.renew(*handle).answer, Current::current);
    EXPECT_FALSE(b());
  }
}

TEST_F(AgentmuxBehaviours, b14_renewing_after_a_takeover_fails_and_does_not_overwrite_the_new_owner) {
  const auto first = a();
  store.now = kPast;
  const auto second = b();
  ASSERT_TRUE(first && second);
  const int writes = store.writes;
  const CurrentVerdict verdict = store.renew(*first);
  EXPECT_EQ(verdict.answer, Current::lost);
  EXPECT_NE(verdict.why.find("epoch 2"), std::string::npos) << verdict.why;
  EXPECT_EQ(store.writes, writes);
  EXPECT_EQ(store.record->owner, "boot-b");
}

TEST_F(AgentmuxBehaviours, b15_verify_writes_nothing_passes_while_expired_but_untaken_and_finds_a_loss) {
  const auto first = a();
  const int writes = store.writes;
  store.now = kPast;
  EXPECT_TRUE(PaperStore::mine(store.verify(*first)));
  EXPECT_EQ(store.writes, writes);
  ASSERT_TRUE(b());
  EXPECT_EQ(store.verify(*first).answer, Current::lost);
}

TEST_F(AgentmuxBehaviours, b16_release_leaves_no_record) {
  const auto handle = a();
  EXPECT_TRUE(store.release(*handle));
  EXPECT_FALSE(store.record);
  EXPECT_FALSE(store.held_for_a_stranger());
}

TEST_F(AgentmuxBehaviours, b17_release_after_a_takeover_leaves_the_new_owners_record) {
  const auto first = a();
  store.now = kPast;
  ASSERT_TRUE(b());
  EXPECT_FALSE(store.release(*first));
  EXPECT_EQ(store.record->owner, "boot-b");
}

TEST_F(AgentmuxBehaviours, b18_a_second_block_of_one_process_is_refused_while_the_first_holds) {
  const auto first = a("block-1");
  EXPECT_FALSE(a("block-2"));
  EXPECT_EQ(store.last.answer, Answer::held_by_part);
  ASSERT_TRUE(store.release(*first));
  EXPECT_TRUE(a("block-2"));
}

TEST_F(AgentmuxBehaviours, b19_a_same_block_reclaim_fences_the_old_handle_under_the_same_epoch) {
  const auto first = a();
  const auto second = a();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->epoch, second->epoch);
  EXPECT_EQ(store.verify(*first).answer, Current::lost);
  EXPECT_EQ(store.renew(*first).answer, Current::lost);
  EXPECT_FALSE(store.release(*first));
  EXPECT_EQ(store.verify(*second).answer, Current::current);
}

TEST_F(AgentmuxBehaviours, b20_a_block_that_took_over_after_expiry_is_higher_fences_and_survives_the_first) {
  const auto first = a("block-1");
  store.now = kPast;
  const auto second = a("block-2");
  ASSERT_TRUE(first && second);
  EXPECT_GT(second->epoch, first->epoch);
  EXPECT_EQ(store.verify(*first).answer, Current::lost);
  EXPECT_FALSE(store.release(*first));
  EXPECT_EQ(store.verify(*second).answer, Current::current);
}

TEST_F(AgentmuxBehaviours, b21_releasing_a_missing_lease_does_nothing_twice) {
  const auto handle = a();
  ASSERT_TRUE(store.release(*handle));
  EXPECT_FALSE(store.release(*handle));
  EXPECT_EQ(store.verify(*handle).answer, Current::gone);
  EXPECT_FALSE(store.release(*handle));
}

TEST_F(AgentmuxBehaviours, b22_the_lookup_shows_the_holder_to_others) {
  ASSERT_TRUE(a());
  EXPECT_TRUE(store.held_for_a_stranger());
  EXPECT_EQ(store.occupant().owner, "boot-a");  // by which the asker leaves itself out
}

TEST_F(AgentmuxBehaviours, b23_the_lookup_ignores_an_expired_lease) {
  ASSERT_TRUE(a());
  store.now = kPast;
  EXPECT_FALSE(store.held_for_a_stranger());
}

TEST_F(AgentmuxBehaviours, b24_of_eight_claimants_exactly_one_wins) {
  int winners = 0;
  for (std::int32_t pid = 1; pid <= 8; ++pid) {
    winners += store.claim("boot-" + std::to_string(pid), "block-1", pid) ? 1 : 0;
  }
  EXPECT_EQ(winners, 1);
}

// ---- by proof, while the holder is proven alive: silence is not an end ----------------------------------------------

TEST_F(ProofBehaviours, b04_after_the_ttl_a_living_holder_still_has_it) {
  ASSERT_TRUE(a());
  store.now = 1000 * kPast;
  EXPECT_FALSE(b());
  EXPECT_EQ(store.last.answer, Answer::held);
  EXPECT_NE(store.last.why.find("alive"), std::string::npos);
  EXPECT_FALSE(store.last.frees_in);
}

TEST_F(ProofBehaviours, b09_epochs_grow_over_a_takeover_from_the_dead_instead) {
  const auto first = a();
  store.now = kPast;
  ASSERT_FALSE(b());
  store.holder_is = Liveness::dead;
  const auto second = b();
  ASSERT_TRUE(first && second);
  EXPECT_GT(second->epoch, first->epoch);
}

TEST_F(ProofBehaviours, b14_a_living_holder_renews_after_the_ttl_and_nobody_was_in_between) {
  const auto first = a();
  store.now = kPast;
  ASSERT_FALSE(b());
  EXPECT_EQ(store.renew(*first).answer, Current::current);
  EXPECT_EQ(store.record->owner, "boot-a");
}

TEST_F(ProofBehaviours, b15_verify_of_a_silent_living_holder_stays_true) {
  const auto first = a();
  store.now = kPast;
  ASSERT_FALSE(b());
  EXPECT_EQ(store.verify(*first).answer, Current::current);
}

TEST_F(ProofBehaviours, b17_release_of_a_silent_living_holder_is_its_own) {
  const auto first = a();
  store.now = kPast;
  ASSERT_FALSE(b());
  EXPECT_TRUE(store.release(*first));
  EXPECT_TRUE(b());
}

TEST_F(ProofBehaviours, b20_another_block_of_a_living_process_is_refused_after_the_ttl_too) {
  const auto first = a("block-1");
  store.now = kPast;
  EXPECT_FALSE(a("block-2"));
  EXPECT_EQ(store.last.answer, Answer::held_by_part);
  EXPECT_EQ(store.verify(*first).answer, Current::current);
}

TEST_F(ProofBehaviours, b23_the_lookup_shows_a_silent_living_holder) {
  ASSERT_TRUE(a());
  store.now = kPast;
  EXPECT_TRUE(store.held_for_a_stranger());
}

}  // namespace
}  // namespace tenure::rules
