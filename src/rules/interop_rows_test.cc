// What breaks in the formats that we honour, row by row, as far as rules decide it: M is mutual exclusion, F fencing,
// L liveness. Rows about disks, locks and waiting have their tests over the engine.
#include <gtest/gtest.h>

#include <type_traits>

#include "rules/paper_store.h"

namespace tenure::rules {
namespace {

using worlds::PaperStore;
using Answer = ClaimVerdict::Answer;
using Current = CurrentVerdict::Answer;
using namespace std::chrono_literals;

const Standpoint kSelf = worlds::standpoint();
const ProcessIdentity kRecorded = worlds::process(7);

Liveness judged(const ProcessSight& sight, const ProcessIdentity& recorded = kRecorded,
                const Standpoint& self = kSelf) {
  return judge_process(recorded, sight, self).liveness;
}

template <class T>
concept NamesExecutable = requires(T t) { t.executable; };

Occupant holder(Liveness liveness, Age silence) {
  Occupant occupant;
  occupant.kind = Occupant::Kind::holder;
  occupant.owner = "a";
  occupant.part = "1";
  occupant.process = kRecorded;
  occupant.verdict = {liveness, "evidence"};
  occupant.silence = silence;
  return occupant;
}
const Claimant kContender{"b", "1", worlds::process(8)};

// ---- M --------------------------------------------------------------------------------------------------------------

TEST(InteropRows, M1_executable_replaced_while_the_holder_runs_is_no_evidence) {
  static_assert(!NamesExecutable<ProcessIdentity> && !NamesExecutable<ProcessSight>);
  EXPECT_EQ(judged(worlds::running()), Liveness::live);
}

TEST(InteropRows, M2_a_step_of_the_wall_clock_moves_no_start) {
  for (std::uint64_t wall : {0U, 1U, 1'770'000'001U, 4'000'000'000U}) {
    ProcessSight sight = worlds::running();
    sight.start_wall_seconds = wall;
    EXPECT_EQ(judged(sight), Liveness::live);
    // Of a record of AgentMux, which has nothing but that start, it proves nothing either.
    EXPECT_NE(judge_foreign(7, "host-a", 1'770'000'000, sight, kSelf).liveness, Liveness::dead);
  }
}

TEST(InteropRows, M3_a_jump_of_the_wall_clock_expires_nobody) {
  for (Liveness liveness : {Liveness::live, Liveness::unknown}) {
    const Occupant jumped = holder(liveness, {Age::Basis::wall, 1000h});
    EXPECT_EQ(decide_claim(Expiry::proof, jumped, kContender).answer, Answer::held);
  }
}

TEST(InteropRows, M4_another_pid_namespace_is_never_dead) {
  Standpoint elsewhere = kSelf;
  elsewhere.identity.pid_namespace = 4002;
  EXPECT_EQ(judged(worlds::gone(), kRecorded, elsewhere), Liveness::unknown);
  EXPECT_EQ(judged(worlds::running(101), kRecorded, elsewhere), Liveness::unknown);
  EXPECT_EQ(judge_foreign(7, "host-a", 1, worlds::gone(), elsewhere).liveness, Liveness::unknown);
  // A held life lock crosses namespaces.
  const Verdict keeper = judge_process(kRecorded, worlds::gone(), elsewhere);
  EXPECT_EQ(judge_lease({keeper, {}, LifeSight::held, true}).liveness, Liveness::live);
}

TEST(InteropRows, M5_two_machines_with_one_host_name_are_told_apart_by_boot_and_machine) {
  Standpoint other = kSelf;
  other.identity.boot_id = "another";
  other.identity.machine_id = "another";
  EXPECT_EQ(judged(worlds::gone(), kRecorded, other), Liveness::unknown);
  other.identity.machine_id.clear();
  EXPECT_EQ(judged(worlds::gone(), kRecorded, other), Liveness::unknown);
  EXPECT_EQ(judge_foreign(7, "host-a", 1, worlds::gone(), other).liveness, Liveness::unknown);
}

TEST(InteropRows, M6_without_a_usable_proc_nothing_is_dead_for_want_of_a_line_there) {
  Standpoint blind = kSelf;
  blind.proc_usable = false;
  for (ProcessSight::Existence existence : {ProcessSight::Existence::exists, ProcessSight::Existence::cannot_tell}) {
    ProcessSight sight;
    sight.existence = existence;
    sight.stat = ProcessSight::Stat::absent;
    EXPECT_EQ(judged(sight, kRecorded, blind), Liveness::unknown);
    EXPECT_EQ(judge_foreign_as_agentmux(7, "host-a", 1, sight, blind).liveness, Liveness::live);
  }
  // What the kernel says without /proc stands.
  EXPECT_EQ(judged(worlds::gone(), kRecorded, blind), Liveness::dead);
}

TEST(InteropRows, M7_a_proc_of_another_pid_namespace_lends_nobody_a_life_and_takes_none) {
  Standpoint astray = kSelf;
  astray.proc_usable = false;  // /proc/self is not our pid
  EXPECT_EQ(judged(worlds::running(), kRecorded, astray), Liveness::unknown);
  EXPECT_EQ(judged(worlds::running(101), kRecorded, astray), Liveness::unknown);
}

TEST(InteropRows, M8_hidepid_hides_and_does_not_kill) {
  ProcessSight hidden;
  hidden.existence = ProcessSight::Existence::exists;
  hidden.stat = ProcessSight::Stat::absent;
  EXPECT_EQ(judged(hidden), Liveness::unknown);
  EXPECT_EQ(judge_foreign(7, "host-a", 1, hidden, kSelf).liveness, Liveness::unknown);
  EXPECT_EQ(judge_foreign_as_agentmux(7, "host-a", 1, hidden, kSelf).liveness, Liveness::live);
}

TEST(InteropRows, M9_a_start_is_a_number_of_ticks_and_no_local_time) {
  static_assert(std::is_same_v<decltype(ProcessIdentity::start_ticks), std::uint64_t>);
  // A record from a system without our fields is not judged by those that it lacks.
  EXPECT_EQ(judged(worlds::gone(), {.pid = 7, .boot_id = "Tue Mar  3 10:00:00 2026"}), Liveness::unknown);
}

TEST(InteropRows, M10_another_time_namespace_shifts_ticks_so_they_prove_nothing) {
  Standpoint shifted = kSelf;
  shifted.identity.time_namespace = 4002;
  EXPECT_EQ(judged(worlds::running(100'100), kRecorded, shifted), Liveness::unknown);
  EXPECT_EQ(judged(worlds::running(100), kRecorded, shifted), Liveness::unknown);
}

TEST(InteropRows, M13_a_holder_that_slept_through_its_own_ttl_learns_of_the_takeover_by_epoch) {
  PaperStore store(Expiry::proof);
  const auto sleeper = store.claim("a", "1", 1);
  store.record->hard_ttl = 10s;
  store.now = 10s + 1ns;
  const auto next = store.claim("b", "1", 2);
  ASSERT_TRUE(sleeper && next);
  EXPECT_EQ(store.last.answer, Answer::over_expired);
  EXPECT_GT(next->epoch, sleeper->epoch);
  const CurrentVerdict verdict = store.verify(*sleeper);
  EXPECT_EQ(verdict.answer, Current::lost);
  EXPECT_NE(verdict.why.find("epoch " + next->epoch.text()), std::string::npos);
}

TEST(InteropRows, M14_work_that_goes_on_in_a_child_keeps_the_lease) {
  const Verdict dead{Liveness::dead, "pid 7 is gone"};
  EXPECT_EQ(judge_lease({dead, {}, LifeSight::held, true}).liveness, Liveness::live);
  EXPECT_EQ(judge_lease({dead, Verdict{Liveness::live, "pid 8 runs"}, LifeSight::free, true}).liveness, Liveness::live);
  // A cleaner took the lock's name away: the child may hold it still.
  EXPECT_EQ(judge_lease({dead, {}, LifeSight::absent, true}).liveness, Liveness::unknown);
  EXPECT_EQ(judge_lease({dead, {}, LifeSight::other_file, true}).liveness, Liveness::unknown);
}

TEST(InteropRows, M16_equal_labels_from_another_process_are_a_contender) {
  for (Expiry policy : worlds::kPolicies) {
    PaperStore store(policy);
    ASSERT_TRUE(store.claim("copied", "1", 1));
    EXPECT_FALSE(store.claim("copied", "1", 2));
    EXPECT_EQ(store.last.answer, Answer::held);
    store.holder_is = Liveness::dead;
    const auto taken = store.claim("copied", "1", 2);
    ASSERT_TRUE(taken);
    EXPECT_EQ(store.last.answer, Answer::over_dead);
    EXPECT_EQ(taken->epoch, Epoch{2});
  }
}

TEST(InteropRows, M17_the_bound_of_the_record_decides_and_not_the_readers) {
  for (Expiry policy : worlds::kPolicies) {
    Occupant occupant = holder(Liveness::unknown, {Age::Basis::monotonic, 20s});
    EXPECT_TRUE(decide_claim(policy, occupant, kContender).granted());
    occupant.silence_bound = 60s;
    EXPECT_FALSE(decide_claim(policy, occupant, kContender).granted());
  }
}

TEST(InteropRows, M18_a_forked_child_is_not_its_parent) {
  ProcessIdentity child = kRecorded;
  child.pid = 8;
  child.start_ticks = 150;
  EXPECT_FALSE(same_process(kRecorded, child));
  const Occupant parents = holder(Liveness::live, {Age::Basis::monotonic, 0s});
  EXPECT_EQ(decide_claim(Expiry::proof, parents, {"a", "1", child}).answer, Answer::held);
}

TEST(InteropRows, M19_a_living_holder_with_a_damaged_record_writes_it_again) {
  PaperStore store(Expiry::proof);
  const auto handle = store.claim("a", "1", 1);
  store.damaged = true;
  EXPECT_EQ(store.verify(*handle).answer, Current::restore);
  // And meanwhile nobody takes it over, however long that is.
  Occupant damaged = store.occupant();
  damaged.verdict = {Liveness::live, "its life lock is held"};
  damaged.silence = {Age::Basis::observed, 1000h};
  for (Expiry policy : worlds::kPolicies) {
    EXPECT_EQ(decide_claim(policy, damaged, kContender).answer, Answer::held);
  }
}

// ---- F --------------------------------------------------------------------------------------------------------------

EpochSources used(EpochSource counter, EpochSource note = {}, EpochSource record = {}) {
  return {counter, note, record, false, WallTime{std::chrono::seconds(1'770'000'000)}};
}

TEST(InteropRows, F1_a_lost_or_damaged_counter_never_starts_again_at_one) {
  const EpochSource last = worlds::at(4);
  for (const EpochSource& counter : {worlds::missing(), worlds::unreadable(), worlds::at(0)}) {
    for (const EpochSources& sources : {used(counter, last), used(counter, {}, last), used(counter)}) {
      const auto next = next_epoch(sources);
      EXPECT_TRUE(!next || next->epoch > last.epoch);
    }
  }
  EXPECT_EQ(next_epoch(used(worlds::unreadable())).error().code, Code::epoch_unreadable);
}

TEST(InteropRows, F2_at_the_limit_it_is_refused_and_never_wraps) {
  EXPECT_EQ(next_epoch(used(worlds::at(Epoch::kLimit - 1))).error().code, Code::epoch_exhausted);
  EXPECT_EQ(next_epoch(used(worlds::at(UINT64_MAX))).error().code, Code::epoch_unreadable);
  EXPECT_EQ(next_epoch(used(worlds::at(UINT64_MAX), worlds::at(4)))->epoch, Epoch{4 + kRepairJump});
}

TEST(InteropRows, F3_two_handles_under_one_epoch_are_told_apart_by_claim_id) {
  PaperStore store(Expiry::proof);
  const auto old_handle = store.claim("a", "1", 1);
  const auto new_handle = store.claim("a", "1", 1);
  ASSERT_TRUE(old_handle && new_handle);
  EXPECT_EQ(store.last.answer, Answer::reclaim);
  EXPECT_EQ(store.verify(*old_handle).answer, Current::lost);
  EXPECT_EQ(store.verify(*new_handle).answer, Current::current);
}

TEST(InteropRows, F6_a_record_without_an_epoch_is_an_unfenced_peer_and_a_takeover_rises_above_the_counter) {
  EXPECT_EQ(next_epoch(used(worlds::at(9), worlds::at(9), worlds::at(0)))->epoch, Epoch{10});
  PaperStore store(Expiry::proof);
  const auto handle = store.claim("a", "1", 1);
  store.write({"older build", "1", {}, ClaimId{}, Epoch{}, 0s, {}});
  const CurrentVerdict verdict = store.verify(*handle);
  EXPECT_EQ(verdict.answer, Current::lost);
  EXPECT_NE(verdict.why.find("no epoch"), std::string::npos);
}

TEST(InteropRows, F7_a_late_renewal_says_that_it_was_late) {
  PaperStore store(Expiry::proof);
  const auto handle = store.claim("a", "1", 1);
  store.record->hard_ttl = 10s;
  store.now = 12s;
  const CurrentVerdict verdict = store.renew(*handle);
  EXPECT_EQ(verdict.answer, Current::late);
  EXPECT_EQ(verdict.late_by, Duration{2s});
  EXPECT_EQ(store.record->epoch, handle->epoch);
}

TEST(InteropRows, F8_one_file_restored_from_a_backup_brings_no_old_epoch_back) {
  EXPECT_EQ(next_epoch(used(worlds::at(3), worlds::at(9), worlds::at(9)))->epoch, Epoch{10});
  EXPECT_EQ(next_epoch(used(worlds::at(9), worlds::at(3), worlds::at(2)))->epoch, Epoch{10});
  PaperStore store(Expiry::proof);
  const auto handle = store.claim("a", "1", 1);
  store.counter = worlds::at(0);  // older than our grant: no proof that nobody came between
  store.record.reset();
  EXPECT_NE(store.verify(*handle).answer, Current::restore);
}

TEST(InteropRows, F9_what_cannot_be_read_is_never_taken_for_still_mine) {
  for (const EpochSource& counter : {worlds::missing(), worlds::unreadable()}) {
    for (const EpochSource& note : {worlds::missing(), worlds::unreadable()}) {
      for (Occupant::Kind kind : {Occupant::Kind::nobody, Occupant::Kind::damaged}) {
        const CurrentFacts facts{kind, {}, {}, counter, note, true, {}, {}};
        const Current answer = decide_current(facts, worlds::claim_id(1), Epoch{1}).answer;
        EXPECT_TRUE(answer == Current::lost || answer == Current::gone);
      }
    }
  }
}

// ---- L --------------------------------------------------------------------------------------------------------------

TEST(InteropRows, L1_a_stopped_holder_is_alive_and_only_an_operator_or_its_own_ttl_ends_it) {
  ProcessSight stopped = worlds::running();
  stopped.state = 'T';
  EXPECT_EQ(judged(stopped), Liveness::live);
  Occupant occupant = holder(Liveness::live, {Age::Basis::monotonic, 1000h});
  EXPECT_EQ(decide_claim(Expiry::proof, occupant, kContender).answer, Answer::held);
  EXPECT_FALSE(decide_revoke(occupant, Expiry::proof, Epoch{3}, false, "", {}).allowed);
  EXPECT_TRUE(decide_revoke(occupant, Expiry::proof, Epoch{3}, true, "hung", Epoch{3}).allowed);
  occupant.hard_ttl = 10s;
  occupant.since_extension = {Age::Basis::monotonic, 11s};
  EXPECT_EQ(decide_claim(Expiry::proof, occupant, kContender).answer, Answer::over_expired);
}

TEST(InteropRows, L3_a_renamed_host_changes_nothing_and_a_remote_holder_ages_out) {
  Standpoint renamed = kSelf;
  renamed.host = "host-new";
  EXPECT_EQ(judged(worlds::running(), kRecorded, renamed), Liveness::live);
  EXPECT_EQ(judged(worlds::gone(), kRecorded, renamed), Liveness::dead);
  const Occupant remote = holder(Liveness::unknown, {Age::Basis::observed, kAgentmuxTtl + 1ns});
  EXPECT_EQ(decide_claim(Expiry::proof, remote, kContender).answer, Answer::over_expired);
}

TEST(InteropRows, L4_a_damaged_record_ends_by_being_watched_whatever_its_file_time_says) {
  Occupant damaged;
  damaged.kind = Occupant::Kind::damaged;
  damaged.silence = {Age::Basis::observed, kAgentmuxTtl};
  const ClaimVerdict held = decide_claim(Expiry::proof, damaged, kContender);
  EXPECT_EQ(held.answer, Answer::held);
  EXPECT_TRUE(held.frees_in);
  damaged.silence.value += 1ns;
  EXPECT_EQ(decide_claim(Expiry::proof, damaged, kContender).answer, Answer::over_damaged);
  // And an operator need not wait.
  damaged.silence = {};
  EXPECT_TRUE(decide_revoke(damaged, Expiry::proof, Epoch{}, true, "torn by a full disk", {}).allowed);
}

TEST(InteropRows, L5_a_stamp_of_the_future_is_no_sign_of_life_for_ever) {
  Occupant future = holder(Liveness::unknown, {Age::Basis::unknown, 0s});
  EXPECT_FALSE(decide_claim(Expiry::proof, future, kContender).granted());
  future.silence = {Age::Basis::observed, kAgentmuxTtl + 1ns};
  EXPECT_TRUE(decide_claim(Expiry::proof, future, kContender).granted());
}

TEST(InteropRows, L6_the_boot_is_asked_first_so_a_reused_pid_after_a_reboot_protects_nobody) {
  ProcessIdentity before = kRecorded;
  before.boot_id = "the boot before";
  ProcessSight anothers;  // another user's, of which nothing can be read
  anothers.existence = ProcessSight::Existence::exists;
  anothers.stat = ProcessSight::Stat::denied;
  EXPECT_EQ(judged(anothers, before), Liveness::dead);
}

TEST(InteropRows, L7_a_pid_reused_within_the_second_is_told_by_its_ticks) {
  EXPECT_EQ(judged(worlds::running(101)), Liveness::dead);
}

TEST(InteropRows, L8_a_zombie_without_another_thread_is_dead) {
  ProcessSight zombie = worlds::running();
  zombie.state = 'Z';
  EXPECT_EQ(judged(zombie), Liveness::dead);
  zombie.other_threads = 1;
  EXPECT_EQ(judged(zombie), Liveness::live);
  zombie.threads_counted = false;
  zombie.other_threads = 0;
  EXPECT_EQ(judged(zombie), Liveness::unknown);
}

TEST(InteropRows, L13_waiting_is_told_as_a_span_and_never_as_a_time_of_day) {
  static_assert(std::is_same_v<decltype(ClaimVerdict::frees_in), std::optional<Duration>>);
  const Occupant occupant = holder(Liveness::unknown, {Age::Basis::monotonic, 10s});
  EXPECT_EQ(decide_claim(Expiry::proof, occupant, kContender).frees_in, Duration{5s + 1ms});
}

TEST(InteropRows, L15_a_record_deleted_by_a_cleaner_is_written_again_and_one_given_back_is_not) {
  PaperStore store(Expiry::proof);
  const auto handle = store.claim("a", "1", 1);
  store.record.reset();
  EXPECT_EQ(store.verify(*handle).answer, Current::restore);
  store.counter = worlds::at(2);  // an AgentMux came by and left
  const CurrentVerdict verdict = store.verify(*handle);
  EXPECT_EQ(verdict.answer, Current::lost);
  EXPECT_NE(verdict.why.find("epoch 2"), std::string::npos);
  store.counter = worlds::at(1);
  store.note_says_held = false;
  EXPECT_EQ(store.verify(*handle).answer, Current::gone);
}

}  // namespace
}  // namespace tenure::rules
