// Rows L: a key that nobody gets although it is free, and a call that does not come back.
#include <future>

#include "files/rows.h"

namespace tenure::tests {
namespace {

class RowsL : public Rows {
 protected:
  // A process that was stopped within the section of the key.
  std::unique_ptr<env::SectionLock> stop_inside() {
    const auto number = world.world->spawn();
    directory_ = world.disk->open(number);
    auto lock = directory_->lock("k.lock", 1s, nullptr);
    EXPECT_TRUE(lock);
    world.world->stop(number);
    return std::move(*lock);
  }

 private:
  std::unique_ptr<env::Directory> directory_;
};

TEST_F(RowsL, L1_a_stopped_holder_is_alive_and_an_operator_ends_it) {
  hold();
  world.world->stop(holder.number);
  world.clock->advance(24h);
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_EQ(seen().verdict.liveness, Liveness::live);
  EXPECT_EQ(seen().silent_for, Duration(24h)) << "alive, and making no progress: two things";
  auto chief = world.client();
  EXPECT_EQ(chief.engine->revoke({key("k"), "", false, std::nullopt}).error().code, Code::holder_live);
  ASSERT_TRUE(chief.engine->revoke({key("k"), "hangs since noon", true, std::nullopt}));
  EXPECT_TRUE(claim());
  world.world->resume(holder.number);
  auto lost = holder.engine->verify(ref(*held));
  EXPECT_EQ(lost.error().code, Code::lost);
}

TEST_F(RowsL, L1_a_limit_that_it_set_for_itself_ends_it_too) {
  hold(1min);
  world.world->stop(holder.number);
  world.clock->advance(61s);
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L2_one_stopped_inside_is_named_at_the_deadline_and_hangs_no_look) {
  hold();
  ASSERT_TRUE(holder.engine->release(ref(*held)));
  auto inside = stop_inside();
  auto waited = world.client().engine->await(request("k", "contender"), {Duration{0}, nullptr, {}});
  ASSERT_FALSE(waited);
  EXPECT_NE(waited.error().message.find("which is stopped"), std::string::npos) << waited.error().message;
  EXPECT_EQ(seen().state, State::free);
  EXPECT_TRUE(world.client().engine->list(""));
  inside.reset();
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L3_a_renamed_host_changes_nothing) {
  hold();
  const Birth renamed{.host = "another-name"};
  EXPECT_EQ(refusal(renamed), Code::held);
  world.world->kill(holder.number);
  EXPECT_TRUE(claim(renamed));
}

TEST_F(RowsL, L3_after_a_reboot_the_machine_knows_its_own_dead) {
  hold();
  world.world->reboot("machine-a");
  world.disk->lose_power();
  EXPECT_TRUE(claim({.host = "another-name"}));
}

TEST_F(RowsL, L3_a_remote_holder_ages_out_and_an_operator_can_clear_it_before) {
  FilesClient far = world.client({.machine = "machine-b", .host = "host-b"});
  hold_as(far);
  world.world->kill(far.number);
  EXPECT_EQ(refusal(), Code::held);
  ASSERT_TRUE(world.client().engine->revoke({key("k"), "that machine is gone", true, std::nullopt}));
  FilesClient again = world.client({.machine = "machine-b", .host = "host-b"});
  hold_as(again);
  world.world->kill(again.number);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(kPast);
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L4_damage_of_every_kind_is_held_explained_and_comes_to_an_end) {
  for (const Placed kind : {Placed::file, Placed::fifo, Placed::directory, Placed::link, Placed::foreign}) {
    SCOPED_TRACE(static_cast<int>(kind));
    world.disk->place("k.lease.json", kind, kind == Placed::file ? "" : "x");
    auto refused = claim();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::held);
    EXPECT_NE(refused.error().remedy.find("force"), std::string::npos);
    EXPECT_EQ(seen().state, State::damaged);
    EXPECT_FALSE(seen().note.empty());
    world.clock->advance(kPast);
    auto grant = claim();
    ASSERT_TRUE(grant) << grant.error().message;
    ASSERT_TRUE(world.client().engine->revoke({key("k"), "next kind", true, std::nullopt}));
  }
  EXPECT_TRUE(has("k.evidence-5")) << "nothing was discarded";
}

TEST_F(RowsL, L4_a_file_time_of_the_future_holds_nobody_up) {
  world.clock->step_wall(240h);
  world.disk->place("k.lease.json", Placed::file, "{ \"half\": ");
  world.clock->step_wall(-240h);
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(kPast);
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L4_the_printed_repair_works_at_once_and_tells_the_holder) {
  hold();
  world.disk->place("k.lease.json", Placed::file, "{ \"half\": ");
  auto chief = world.client();
  EXPECT_EQ(chief.engine->revoke({key("k"), "", false, std::nullopt}).error().code, Code::damaged);
  EXPECT_EQ(chief.engine->revoke({key("k"), "x", true, Epoch(17)}).error().code, Code::epoch_changed);
  const Epoch shown = seen().epoch;
  EXPECT_EQ(shown, held->epoch);
  auto done = chief.engine->revoke({key("k"), "a bad disk", true, shown});
  ASSERT_TRUE(done) << done.error().message;
  auto lost = holder.engine->verify(ref(*held));
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("a bad disk"), std::string::npos) << lost.error().message;
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L5_a_stamp_of_the_future_is_no_sign_of_life_for_ever) {
  for (const rules::Expiry expiry : {rules::Expiry::proof, rules::Expiry::age}) {
    FilesWorld other(expiry);
    AgentMux::Text text = foreign("elsewhere");
    text.renewed_at_ms = other.clock->wall().milliseconds() + 1'000L * 3'600 * 24 * 365;
    other.disk->place("k.lease.json", Placed::file, text.in(AgentMux::Shape::third));
    EXPECT_FALSE(claim_of(other.client()));
    other.clock->advance(kPast);
    EXPECT_TRUE(claim_of(other.client()));
  }
}

TEST_F(RowsL, L5_nor_is_one_of_our_own_that_lies_ahead_of_the_machines_clock) {
  hold(20s);
  auto record = decode_lease_record(*world.disk->bytes("k.lease.json"));
  ASSERT_TRUE(record);
  record->extra->renewed_monotonic = record->extra->renewed_monotonic + 1'000h;
  record->extra->extended_monotonic = record->extra->extended_monotonic + 1'000h;
  world.disk->place("k.lease.json", Placed::file, encode(*record));
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(21s);
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L6_after_a_reboot_a_reused_pid_protects_nobody) {
  hold();
  const auto number = world.world->pid_of(holder.number);
  world.world->reboot("machine-a");
  world.world->spawn({.pid = number, .user = 0});
  hide_life();
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L7_a_pid_that_was_given_away_again_protects_nobody) {
  hold();
  world.world->reuse_pid(holder.number);
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L8_a_zombie_is_dead_unless_another_thread_of_it_runs) {
  hold();
  world.world->make_zombie(holder.number, 2);
  EXPECT_EQ(refusal(), Code::held);
  world.world->make_zombie(holder.number);
  EXPECT_TRUE(claim());
}

TEST_F(RowsL, L9_guarded_work_holds_others_up_and_tells_them_so) {
  hold();
  std::optional<Error> told;
  bool mine = false;
  ASSERT_TRUE(holder.engine->guard(guard_of(*held, 60s), [&] {
    mine = still_mine();
    auto chief = world.client();
    // By its own number of seconds, not by a word of loss.
    auto got = chief.engine->await(request("other", "chief"), {Duration{0}, nullptr, {}});
    EXPECT_TRUE(got) << "another key was held up";
    ClaimRequest same = request("k", "holder", "part-2");
    told = holder.engine->await(same, {Duration{0}, nullptr, {}}).error();
    return Result<void>{};
  }));
  EXPECT_TRUE(mine);
  ASSERT_TRUE(told);
  EXPECT_NE(facts(told->code).outcome, Outcome::lost);
}

TEST_F(RowsL, L11_who_is_refused_by_a_living_holder_does_not_stand_in_its_way) {
  hold();
  auto poller = world.client();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(claim_of(poller));
  const auto calls = world.disk->faults(poller.number)->calls();
  EXPECT_EQ(std::ranges::count(calls, "lock"), 0) << "it took the lock that the holder's release needs";
  EXPECT_FALSE(calls.empty());
}

TEST_F(RowsL, L15_a_record_that_a_cleaner_took_is_written_again_and_nobody_slips_in) {
  hold();
  world.disk->erase("k.lease.json");
  EXPECT_EQ(refusal(), Code::held);
  EXPECT_TRUE(still_mine());
  ASSERT_TRUE(holder.engine->beat(ref(*held)));
  EXPECT_TRUE(has("k.lease.json"));
  EXPECT_EQ(seen().holder->owner, "holder");
}

TEST_F(RowsL, L15_one_that_was_given_back_or_taken_since_is_not) {
  hold();
  ASSERT_TRUE(holder.engine->release(ref(*held)));
  EXPECT_EQ(holder.engine->beat(ref(*held)).error().code, Code::lost);
  EXPECT_FALSE(has("k.lease.json"));
  hold();
  world.disk->erase("k.lease.json");
  AgentMux agentmux(world.disk->open(world.world->spawn()),
                    {world.clock, nullptr, world.world->view(world.world->spawn())});
  auto taken = agentmux.claim("k", "boot-amux", "block-1");
  ASSERT_TRUE(taken);
  ASSERT_TRUE(agentmux.release(*taken));
  EXPECT_EQ(holder.engine->beat(ref(*held)).error().code, Code::lost) << "its counter says that somebody was there";
  EXPECT_FALSE(has("k.lease.json"));
}

TEST_F(RowsL, L16_one_deadline_covers_the_whole_call_whatever_it_waits_for) {
  hold();
  auto inside = stop_inside();
  world.world->kill(holder.number);  // so that every try goes into the section
  auto waiter = world.client();
  auto result = std::async(std::launch::async,
                           [&] { return waiter.engine->await(request("k", "waiter"), {Duration(7s), nullptr, {}}); });
  const MonotonicTime begun = world.clock->monotonic();
  while (result.wait_for(1ms) != std::future_status::ready && world.clock->monotonic() - begun < 1min) {
    world.clock->advance(100ms);
  }
  ASSERT_EQ(result.wait_for(60s), std::future_status::ready);
  auto ended = result.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::timed_out);
}

}  // namespace
}  // namespace tenure::tests
