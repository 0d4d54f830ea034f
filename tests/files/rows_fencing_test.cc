// Rows F: the order of the numbers that a lease is granted under.
#include "files/rows.h"

namespace tenure::tests {
namespace {

class RowsF : public Rows {
 protected:
  // Claims and gives back: the number that was given.
  std::uint64_t turn() {
    FilesClient client = world.client();
    auto grant = claim_of(client);
    EXPECT_TRUE(grant) << grant.error().message;
    if (!grant) return 0;
    EXPECT_TRUE(client.engine->release(ref(*grant)));
    return grant->epoch.value();
  }
};

TEST_F(RowsF, F1_a_damaged_or_missing_counter_never_starts_again) {
  std::uint64_t highest = 0;
  for (int i = 0; i < 4; ++i) highest = turn();
  for (const std::string& content : {std::string(), std::string("many\n"), std::string("-3\n"), std::string("5\0\n", 3),
                                     std::string("0\n"), std::string("18446744073709551616\n")}) {
    SCOPED_TRACE("a counter of " + std::to_string(content.size()) + " bytes: " + content);
    world.disk->place("k.epoch", Placed::file, content);
    const std::uint64_t next = turn();
    EXPECT_GT(next, highest);
    highest = next;
    EXPECT_GT(turn(), highest++) << "and goes on from there";
  }
  world.disk->erase("k.epoch");
  EXPECT_GT(turn(), highest);
}

TEST_F(RowsF, F1_nor_where_it_is_no_file) {
  const std::uint64_t highest = turn();
  for (const Placed kind : {Placed::directory, Placed::fifo, Placed::link, Placed::foreign}) {
    world.disk->place("k.epoch", kind);
    EXPECT_GT(turn(), highest);
  }
}

TEST_F(RowsF, F1_one_that_may_not_be_read_is_refused_until_somebody_repairs_it_by_force) {
  const std::uint64_t highest = turn();
  world.disk->place("k.epoch", Placed::unreadable);
  EXPECT_EQ(refusal(), Code::not_permitted);
  auto repaired = world.client().engine->revoke({key("k"), "rights were lost", true, std::nullopt});
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_FALSE(repaired->notes.empty());
  EXPECT_GT(turn(), highest);
}

TEST_F(RowsF, F1_with_both_places_damaged_it_is_refused_and_the_printed_way_out_works) {
  const std::uint64_t highest = turn();
  world.disk->place("k.epoch", Placed::file, "many\n");
  world.disk->place("k.lock", Placed::file, "tenure-note 1 garbage\n");
  auto refused = claim();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::epoch_unreadable);
  EXPECT_NE(refused.error().remedy.find("force"), std::string::npos);
  auto repaired = world.client().engine->revoke({key("k"), "the disk was bad", true, std::nullopt});
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_FALSE(repaired->notes.empty());
  EXPECT_GT(turn(), highest);
}

TEST_F(RowsF, F2_at_its_limit_it_is_refused_and_never_wraps) {
  turn();
  world.disk->place("k.epoch", Placed::file, std::to_string(Epoch::kLimit - 1) + "\n");
  EXPECT_EQ(refusal(), Code::epoch_exhausted);
  EXPECT_EQ(refusal(), Code::epoch_exhausted);
  EXPECT_FALSE(has("k.lease.json"));
}

TEST_F(RowsF, F2_a_number_that_was_never_granted_is_not_believed) {
  const std::uint64_t highest = turn();
  world.disk->place("k.epoch", Placed::file, "18446744073709551615\n");
  const std::uint64_t next = turn();
  EXPECT_GT(next, highest);
  EXPECT_LT(next, Epoch::kLimit);
}

TEST_F(RowsF, F3_two_handles_under_one_number_are_told_apart_by_their_claim) {
  const Grant first = hold();
  const Grant second = hold();
  EXPECT_EQ(first.epoch, second.epoch) << "as AgentMux has it";
  EXPECT_TRUE(second.reclaimed);
  EXPECT_NE(first.claim, second.claim);
  EXPECT_EQ(holder.engine->verify(ref(first)).error().code, Code::lost);
  EXPECT_TRUE(holder.engine->verify(ref(second)));
}

TEST_F(RowsF, F4_a_number_is_durable_in_both_places_before_it_is_told) {
  for (int round = 0; round < 3; ++round) {
    FilesClient client = world.client();
    auto grant = claim_of(client);
    ASSERT_TRUE(grant);
    for (const char* name : {"k.epoch", "k.lock", "k.lease.json"}) {
      EXPECT_EQ(world.disk->durable_bytes(name), world.disk->bytes(name)) << name;
    }
    const auto calls = world.disk->faults(client.number)->calls();
    EXPECT_GT(std::ranges::find(calls, "sync") - calls.begin(),
              std::ranges::find(calls, "replace.rename") - calls.begin())
        << "the folder is synced after the last name was made";
    ASSERT_TRUE(client.engine->release(ref(*grant)));
  }
}

TEST_F(RowsF, F6_a_holder_of_an_old_build_has_no_number_and_is_succeeded_by_a_higher_one) {
  std::uint64_t highest = 0;
  for (int i = 0; i < 3; ++i) highest = turn();
  AgentMux::Text old = foreign();
  old.epoch = 0;
  place(old, AgentMux::Shape::first);
  EXPECT_TRUE(seen().epoch.none());
  EXPECT_EQ(refusal(), Code::held);
  world.clock->advance(kPast);
  auto taken = claim();
  ASSERT_TRUE(taken);
  EXPECT_GT(taken->epoch.value(), highest);
}

TEST_F(RowsF, F6_a_claim_of_ours_under_which_an_old_build_holds_is_lost) {
  hold();
  AgentMux::Text old = foreign();
  old.epoch = 0;
  place(old, AgentMux::Shape::first);
  EXPECT_EQ(holder.engine->verify(ref(*held)).error().code, Code::lost);
  EXPECT_EQ(holder.engine->beat(ref(*held)).error().code, Code::lost);
}

TEST_F(RowsF, F7_past_its_ttl_verify_says_so_and_a_renewal_says_how_late_it_was) {
  const BootTime before = world.clock->boottime();
  hold(10s);
  EXPECT_EQ(held->valid_until, before + 10s);
  world.clock->advance(4s);
  EXPECT_EQ(holder.engine->verify(ref(*held))->remaining, Duration(6s));
  // The machine's sleep counts for the holder, and for nobody else.
  world.clock->sleep(9s);
  EXPECT_EQ(holder.engine->verify(ref(*held)).error().code, Code::expired);
  EXPECT_EQ(refusal(), Code::held);
  auto renewed = holder.engine->renew(ref(*held));
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_EQ(renewed->late_by, Duration(3s));
  EXPECT_EQ(renewed->valid_until, world.clock->boottime() + 10s);
}

TEST_F(RowsF, F7_a_renewal_after_a_takeover_revives_nothing) {
  hold(10s);
  world.clock->advance(11s);
  auto taken = claim();
  ASSERT_TRUE(taken);
  auto renewed = holder.engine->renew(ref(*held));
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, Code::lost);
  EXPECT_NE(renewed.error().message.find("epoch " + taken->epoch.text()), std::string::npos) << renewed.error().message;
}

TEST_F(RowsF, F8_one_file_that_comes_back_from_a_backup_brings_no_number_back) {
  turn();
  const auto counter = *world.disk->bytes("k.epoch");
  const auto note = *world.disk->bytes("k.lock");
  std::uint64_t highest = 0;
  for (int i = 0; i < 5; ++i) highest = turn();
  world.disk->place("k.epoch", Placed::file, counter);
  std::uint64_t next = turn();
  EXPECT_GT(next, highest);
  highest = next;
  world.disk->place("k.lock", Placed::file, note);
  next = turn();
  EXPECT_GT(next, highest);
}

TEST_F(RowsF, F9_what_cannot_be_read_is_neither_mine_nor_lost) {
  hold();
  const auto faults = world.disk->faults(holder.number);
  faults->always("read", {fakes::Fault::Kind::refuse, Code::input_output});
  for (const Code code :
       {holder.engine->verify(ref(*held)).error().code, holder.engine->beat(ref(*held)).error().code}) {
    EXPECT_EQ(code, Code::input_output);
  }
  faults->clear();
  EXPECT_TRUE(still_mine());
}

}  // namespace
}  // namespace tenure::tests
