// Rows M: two parties that both believe they hold it.
#include <sys/wait.h>
#include <unistd.h>

#include "files/rows.h"

namespace tenure::tests {
namespace {

class RowsM : public Rows {};

TEST_F(RowsM, M1_the_executable_is_no_part_of_an_identity) {
  hold();
  EXPECT_EQ(world.disk->bytes("k.lease.json")->find("exe"), std::string::npos);
  EXPECT_EQ(refusal(), Code::held);
}

TEST_F(RowsM, M2_a_step_of_the_wall_clock_displaces_nobody_in_either_direction) {
  hold();
  AgentMux agentmux(world.disk->open(world.world->spawn()),
                    {world.clock, nullptr, world.world->view(world.world->spawn())});
  for (const Duration step : {1s, -1s, 1s, 1s}) {
    world.clock->step_wall(step);
    EXPECT_EQ(refusal(), Code::held);
    // Our record gives it no start in wall seconds that such a step could move.
    EXPECT_FALSE(agentmux.claim("k", "boot-amux", "block-1"));
  }
  EXPECT_EQ(AgentMux::Text::parse(*world.disk->bytes("k.lease.json"))->pid_start_s, 0U);
  EXPECT_TRUE(still_mine());
}

TEST_F(RowsM, M3_a_jump_of_the_clock_or_the_machines_sleep_expires_nobody) {
  hold();
  world.clock->step_wall(24h);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->sleep(24h);
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(still_mine());
}

TEST_F(RowsM, M3_nor_one_that_can_be_judged_only_by_watching) {
  place(foreign("elsewhere"));
  EXPECT_EQ(refusal(), Code::held);
  world.clock->step_wall(24h);
  world.clock->sleep(24h);
  EXPECT_EQ(refusal(), Code::held);
}

TEST_F(RowsM, M4_another_pid_namespace_sees_no_pid_and_calls_nobody_dead) {
  hold();
  const Birth container{.pid = 4'242, .pid_namespace = 4'026'533'000};
  EXPECT_EQ(refusal(container), Code::held);
  hide_life();
  EXPECT_EQ(refusal(container), Code::held);
  for (int beat = 0; beat < 10; ++beat) {
    world.clock->advance(5s);
    ASSERT_TRUE(holder.engine->beat(ref(*held)));
    EXPECT_EQ(refusal(container), Code::held);
  }
}

TEST_F(RowsM, M4_a_pid_of_another_namespace_lends_nobody_its_life) {
  hold();
  const auto number = world.world->pid_of(holder.number);
  const Birth container{.pid_namespace = 4'026'533'000};
  world.world->spawn({.pid = number, .pid_namespace = 4'026'533'000});
  world.world->kill(holder.number);
  EXPECT_TRUE(claim(container)) << "its life lock is free, whoever runs under its number here";
}

TEST_F(RowsM, M4_an_agentmux_record_whose_pid_is_not_seen_is_unknown_until_its_ttl) {
  place(foreign());
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_EQ(seen().verdict.liveness, Liveness::unknown);
  world.clock->advance(kTtl);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(1ms);
  EXPECT_TRUE(claim());
}

TEST_F(RowsM, M5_another_machine_of_the_same_host_name_is_another_machine) {
  FilesClient twin = world.client({.machine = "machine-b", .host = "host-a"});
  hold_as(twin);
  hide_life();
  for (int beat = 0; beat < 10; ++beat) {
    EXPECT_EQ(refusal(), Code::held);
    EXPECT_EQ(seen().verdict.liveness, Liveness::unknown);
    world.clock->advance(5s);
    ASSERT_TRUE(twin.engine->beat(ref(*held)));
  }
}

TEST_F(RowsM, M5_a_machine_without_an_id_is_not_taken_for_a_rebooted_one) {
  FilesClient nameless = world.client({.machine = "", .host = "host-a"});
  hold_as(nameless);
  EXPECT_EQ(refusal(), Code::held);
  world.world->kill(nameless.number);
  EXPECT_EQ(refusal(), Code::held) << "a free lock of another kernel proves nothing here";
  world.clock->advance(kPast);
  EXPECT_TRUE(claim());
}

TEST_F(RowsM, M6_a_claimant_without_proc_calls_nobody_dead) {
  hold();
  hide_life();
  const Birth blind{.proc_usable = false, .sees_pids = false};
  EXPECT_EQ(refusal(blind), Code::held);
  world.world->kill(holder.number);
  EXPECT_EQ(refusal(blind), Code::held) << "nothing was seen of it, alive or dead";
}

TEST_F(RowsM, M7_a_claimant_whose_proc_is_not_its_own_calls_nobody_dead_or_alive_by_it) {
  hold();
  hide_life();
  FilesClient astray = world.client({.proc_usable = false});
  EXPECT_EQ(claim_of(astray).error().code, Code::held);
  EXPECT_EQ(astray.engine->holder(key("k"))->verdict.liveness, Liveness::unknown);
}

TEST_F(RowsM, M7_a_holder_whose_proc_is_not_its_own_is_known_by_its_life_lock) {
  FilesClient astray = world.client({.proc_usable = false});
  hold_as(astray);
  EXPECT_EQ(refusal(), Code::held);
  world.world->kill(astray.number);
  EXPECT_TRUE(claim());
}

TEST_F(RowsM, M8_a_hidden_holder_is_not_dead) {
  hold();
  hide_life();
  FilesClient other = world.client();
  world.world->hide(holder.number, other.number);
  EXPECT_EQ(claim_of(other).error().code, Code::held);
  EXPECT_EQ(other.engine->holder(key("k"))->verdict.liveness, Liveness::unknown);
}

TEST_F(RowsM, M10_ticks_of_another_time_namespace_prove_nothing) {
  hold();
  hide_life();
  const Birth shifted{.time_namespace = 4'026'534'000};
  world.clock->advance(1s);
  EXPECT_EQ(refusal(shifted), Code::held);
  EXPECT_EQ(world.client(shifted).engine->holder(key("k"))->verdict.liveness, Liveness::unknown);
  // Nor do its stamps: they lie on another clock, so it is watched.
  world.clock->advance(kPast);
  EXPECT_TRUE(claim(shifted)) << "silent, and not proven alive";
}

TEST_F(RowsM, M14_work_that_goes_on_in_a_child_keeps_the_key) {
  hold();
  const auto child = world.world->spawn();
  world.disk->share_life("k.life", holder.number, child);
  world.world->kill(holder.number);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(24h);
  EXPECT_EQ(refusal(), Code::held);
  world.world->kill(child);
  EXPECT_TRUE(claim());
}

TEST_F(RowsM, M14_while_a_child_may_go_on_a_dead_parent_alone_is_no_proof) {
  hold();
  hide_life();
  world.world->kill(holder.number);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(kPast);
  EXPECT_TRUE(claim());
}

TEST_F(RowsM, M15_who_is_inside_is_known_by_its_lock_and_never_judged) {
  FilesClient inside = world.client({.host = "elsewhere", .pid_namespace = 4'026'533'000});
  hold_as(inside);
  bool refused = false;
  auto guarded = inside.engine->guard(guard_of(*held, 60s), [&] {
    auto other = world.client();
    world.world->hide(inside.number, other.number);
    auto got = other.engine->await(request("k", "contender"), {Duration{0}, nullptr, {}});
    refused = !got;
    return Result<void>{};
  });
  EXPECT_TRUE(guarded) << guarded.error().message;
  EXPECT_TRUE(refused);
}

TEST_F(RowsM, M16_equal_labels_of_another_process_are_a_contender) {
  hold();
  FilesClient copy = world.client();
  auto refused = copy.engine->try_claim(request("k", "holder"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::held);
  EXPECT_TRUE(still_mine());
  world.world->kill(holder.number);
  auto taken = copy.engine->try_claim(request("k", "holder"));
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken->reclaimed);
  EXPECT_GT(taken->epoch, held->epoch);
}

TEST_F(RowsM, M17_the_holders_ttl_decides_and_not_the_readers) {
  FilesClient far = world.client({.machine = "machine-b", .host = "host-b"});
  hold_as(far, 60s);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(59s);
  auto impatient = world.client();
  ClaimRequest wanted = request("k", "contender");
  wanted.terms.ttl = 1s;
  EXPECT_EQ(impatient.engine->try_claim(wanted).error().code, Code::held);
  world.clock->advance(2s);
  EXPECT_TRUE(impatient.engine->try_claim(wanted));
}

TEST_F(RowsM, M18_a_forked_child_can_do_nothing_with_its_parents_handle) {
  hold();
  const pid_t child = ::fork();
  if (child == 0) {
    const ClaimRef mine = ref(*held);
    Engine& engine = *holder.engine;
    bool refused = engine.release(mine).error().code == Code::wrong_process;
    refused = refused && engine.renew(mine).error().code == Code::wrong_process;
    refused = refused && engine.verify(mine).error().code == Code::wrong_process;
    refused =
        refused && engine.guard(guard_of(*held, 1s), [] { return Result<void>{}; }).error().code == Code::wrong_process;
    refused = refused && engine.try_claim(request("k", "holder")).error().code == Code::wrong_process;
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(still_mine());
}

TEST_F(RowsM, M19_a_living_holder_whose_record_was_damaged_loses_nothing_and_mends_it) {
  hold();
  world.disk->place("k.lease.json", Placed::file, "{ \"half\": ");
  for (int i = 0; i < 4; ++i) {
    world.clock->advance(1h);
    EXPECT_EQ(refusal(), Code::held);
  }
  auto standing = holder.engine->verify(ref(*held));
  ASSERT_TRUE(standing) << standing.error().message;
  EXPECT_TRUE(standing->needs_beat);
  ASSERT_TRUE(holder.engine->beat(ref(*held)));
  EXPECT_EQ(seen().holder->owner, "holder");
  EXPECT_EQ(world.disk->bytes("k.evidence-1"), "{ \"half\": ") << "kept for whoever wants to know";
}

TEST_F(RowsM, M19_a_damaged_record_under_which_another_was_granted_is_not_mended) {
  hold();
  world.disk->place("k.epoch", Placed::file, "9\n");
  world.disk->place("k.lease.json", Placed::file, "{ \"half\": ");
  EXPECT_EQ(holder.engine->beat(ref(*held)).error().code, Code::lost);
  EXPECT_EQ(world.disk->bytes("k.lease.json"), "{ \"half\": ");
}

}  // namespace
}  // namespace tenure::tests
