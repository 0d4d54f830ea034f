// The 24 behaviours of AgentMux's lease store over the engine, by number. Each runs for every pairing of holder and
// contender, ours and AgentMux's: under `?expiry=age` all 24 as the original has them; under `?expiry=proof` the 17
// that stay, and seven (4, 9, 14, 15, 17, 20, 23) as they are while the holder is proven alive.
//
// One difference is meant. An AgentMux record names neither boot nor pid namespace. By proof, "its pid is not seen
// here" is then no death: another container or machine with the same host name looks exactly like that (rows M4 to M8).
// So behaviours 10 and 11 apply at once to records with our fields, and to AgentMux's own after the TTL, counted from
// when the record was first seen unchanged on our own clock.
#include <gtest/gtest.h>

#include <thread>

#include "files/party.h"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using rules::Expiry;
using Lease = Party::Lease;

constexpr Duration kTtl = 15s;
constexpr Duration kPast = kTtl + 1ms;
const std::string kRecord = "agent.lease.json";

struct Pairing {
  const char* name;
  Expiry expiry;
  bool holder_is_agentmux;
  bool contender_is_agentmux;
};

class Pairs : public ::testing::TestWithParam<Pairing> {
 protected:
  FilesWorld world{GetParam().expiry};
  std::unique_ptr<Party> a = make_party(GetParam().holder_is_agentmux, world, "boot-aaaa");
  std::unique_ptr<Party> b = make_party(GetParam().contender_is_agentmux, world, "boot-bbbb");

  bool by_proof() const { return GetParam().expiry == Expiry::proof && !GetParam().contender_is_agentmux; }
  std::optional<std::string> record() const { return world.disk->bytes(kRecord); }
  void pass(Duration time) { world.clock->advance(time); }
  Lease held_by_a() {
    auto lease = a->claim("agent");
    EXPECT_TRUE(lease);
    return lease.value_or(Lease{});
  }
  void hold_on_another_host() {
    a = make_party(GetParam().holder_is_agentmux, world, "boot-aaaa", {.machine = "machine-z", .host = "host-z"});
  }
};

// The 17 that are the same by both rules, and the seven that are not.
class Behaviours : public Pairs {};
class ByAge : public Pairs {};
class ByProof : public Pairs {};

constexpr Pairing kAge[] = {{"ours_and_ours_by_age", Expiry::age, false, false},
                            {"agentmux_and_ours_by_age", Expiry::age, true, false},
                            {"ours_and_agentmux_by_age", Expiry::age, false, true},
                            {"agentmux_and_agentmux", Expiry::age, true, true}};
constexpr Pairing kProof[] = {{"ours_and_ours_by_proof", Expiry::proof, false, false},
                              {"agentmux_and_ours_by_proof", Expiry::proof, true, false}};
constexpr Pairing kMixed[] = {{"ours_by_proof_and_agentmux", Expiry::proof, false, true}};

std::string name_of(const ::testing::TestParamInfo<Pairing>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(age, Behaviours, ::testing::ValuesIn(kAge), name_of);
INSTANTIATE_TEST_SUITE_P(proof, Behaviours, ::testing::ValuesIn(kProof), name_of);
INSTANTIATE_TEST_SUITE_P(mixed, Behaviours, ::testing::ValuesIn(kMixed), name_of);
INSTANTIATE_TEST_SUITE_P(age, ByAge, ::testing::ValuesIn(kAge), name_of);
// AgentMux goes by its own rule, whatever ours is: what it does to a silent holder of ours is all of ByAge too.
INSTANTIATE_TEST_SUITE_P(mixed, ByAge, ::testing::ValuesIn(kMixed), name_of);
INSTANTIATE_TEST_SUITE_P(proof, ByProof, ::testing::ValuesIn(kProof), name_of);

TEST_P(Behaviours, b01_a_claim_on_an_empty_store_succeeds_and_names_its_key) {
  auto lease = a->claim("agent");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->epoch, 1U);
  ASSERT_TRUE(record());
  EXPECT_EQ(AgentMux::Text::parse(*record())->instance_id, "agent");
  EXPECT_TRUE(a->verify(*lease));
}

TEST_P(Behaviours, b02_a_fresh_lease_of_another_boot_is_refused_and_the_refusal_names_block_and_pid) {
  held_by_a();
  pass(kTtl);  // equal counts as fresh
  EXPECT_FALSE(b->claim("agent"));
  EXPECT_EQ(b->refused_by().boot, "boot-aaaa");
  EXPECT_EQ(b->refused_by().block, "block-1");
  EXPECT_EQ(b->refused_by().pid, static_cast<std::uint32_t>(world.world->pid_of(a->number)));
}

TEST_P(Behaviours, b03_a_reclaim_by_the_same_owner_keeps_the_epoch) {
  const Lease first = held_by_a();
  auto again = a->claim("agent");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->epoch, first.epoch);
}

TEST_P(ByAge, b04_after_the_ttl_another_owner_gets_it_though_the_holder_lives) {
  held_by_a();
  pass(kPast);
  EXPECT_TRUE(b->claim("agent"));
}
TEST_P(ByProof, b04_after_the_ttl_a_holder_proven_alive_still_has_it) {
  const Lease lease = held_by_a();
  for (int hour = 0; hour < 3; ++hour) {
    pass(1h);
    EXPECT_FALSE(b->claim("agent"));
  }
  EXPECT_EQ(b->refused_by().boot, "boot-aaaa");
  EXPECT_TRUE(a->verify(lease));
}

TEST_P(Behaviours, b05_a_fresh_unparseable_file_is_held_for_claim_and_lookup_with_nobody_named) {
  world.disk->place(kRecord, fakes::Placed::file, "{ not json");
  EXPECT_FALSE(b->claim("agent"));
  EXPECT_EQ(b->refused_by().boot, "");
  auto seen = b->lookup("agent");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->boot, "");
  EXPECT_EQ(record(), "{ not json") << "what cannot be read is not touched";
}

TEST_P(Behaviours, b06_an_unparseable_file_that_nobody_rewrote_for_a_ttl_is_taken_over) {
  for (const bool counted : {true, false}) {
    const std::string id = counted ? "counted" : "uncounted";
    if (counted) world.disk->place(id + ".epoch", fakes::Placed::file, "3\n");
    world.disk->place(id + ".lease.json", fakes::Placed::file, "{ not json");
    EXPECT_FALSE(b->claim(id));
    pass(kPast);
    auto lease = b->claim(id);
    ASSERT_TRUE(lease) << id;
    EXPECT_GT(lease->epoch, counted ? 3U : 0U);
    EXPECT_TRUE(b->verify(*lease));
  }
}

TEST_P(Behaviours, b07_a_file_in_the_oldest_format_is_honoured) {
  const std::int64_t now = world.clock->wall().milliseconds();
  const AgentMux::Text oldest{"agent", "boot-old", "block-9", 77, now, now, 0, "", 0, "", "", ""};
  world.disk->place(kRecord, fakes::Placed::file, oldest.in(AgentMux::Shape::first));
  EXPECT_FALSE(b->claim("agent"));
  EXPECT_EQ(b->refused_by().boot, "boot-old");
  EXPECT_EQ(b->refused_by().block, "block-9");
  EXPECT_EQ(b->refused_by().pid, 77U);
  pass(kPast);
  EXPECT_TRUE(b->claim("agent"));
}

TEST_P(Behaviours, b08_epochs_grow_over_release_and_claim_of_different_owners) {
  std::uint64_t last = 0;
  for (int round = 0; round < 6; ++round) {
    Party& now = round % 2 == 0 ? *a : *b;
    auto lease = now.claim("agent");
    ASSERT_TRUE(lease);
    EXPECT_GT(lease->epoch, last);
    last = lease->epoch;
    EXPECT_TRUE(now.release(*lease));
  }
}

TEST_P(ByAge, b09_epochs_grow_over_a_takeover_by_ttl) {
  const Lease first = held_by_a();
  pass(kPast);
  auto second = b->claim("agent");
  ASSERT_TRUE(second);
  EXPECT_GT(second->epoch, first.epoch);
}
TEST_P(ByProof, b09_epochs_grow_over_a_takeover_from_the_dead_and_there_is_none_from_the_living) {
  const Lease first = held_by_a();
  pass(kPast);
  EXPECT_FALSE(b->claim("agent"));
  world.world->kill(a->number);
  EXPECT_EQ(b->claim("agent").has_value(), !GetParam().holder_is_agentmux);
  pass(kPast);
  auto second = b->claim("agent");
  ASSERT_TRUE(second);
  EXPECT_GT(second->epoch, first.epoch);
}

TEST_P(Behaviours, b10_a_holder_whose_pid_does_not_run_is_displaced) {
  const Lease first = held_by_a();
  world.world->kill(a->number);
  if (by_proof() && GetParam().holder_is_agentmux) {
    EXPECT_FALSE(b->claim("agent")) << "it may run in another namespace";
    pass(kPast);
  }
  auto second = b->claim("agent");
  ASSERT_TRUE(second);
  EXPECT_GT(second->epoch, first.epoch);
  auto seen = make_party(false, world, "boot-cccc")->lookup("agent");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->boot, "boot-bbbb");
}

TEST_P(Behaviours, b11_a_running_pid_with_another_start_does_not_protect_the_lease) {
  held_by_a();
  for (int i = 0; i < 10; ++i) world.world->spawn();  // seconds go by
  world.world->reuse_pid(a->number);
  const bool ours_seen_by_agentmux = !GetParam().holder_is_agentmux && GetParam().contender_is_agentmux;
  const bool agentmux_by_proof = by_proof() && GetParam().holder_is_agentmux;
  if (ours_seen_by_agentmux || agentmux_by_proof) {
    // Our records give no start in wall seconds (a step of the clock would kill the living): AgentMux asks for the pid
    // alone, and a reused one protects us until the TTL.
    EXPECT_FALSE(b->claim("agent"));
    pass(kPast);
  }
  EXPECT_TRUE(b->claim("agent"));
}

TEST_P(Behaviours, b12_a_holder_recorded_on_another_host_is_never_presumed_dead) {
  hold_on_another_host();
  held_by_a();
  world.world->kill(a->number);
  EXPECT_FALSE(b->claim("agent"));
  pass(kTtl);
  EXPECT_FALSE(b->claim("agent"));
}

TEST_P(Behaviours, b13_renewing_keeps_others_out) {
  const Lease lease = held_by_a();
  for (int beat = 0; beat < 12; ++beat) {
    pass(5s);
    EXPECT_TRUE(a->renew(lease));
    EXPECT_FALSE(b->claim("agent"));
  }
}

TEST_P(ByAge, b14_renewing_after_a_takeover_fails_and_does_not_overwrite_the_new_owner) {
  const Lease first = held_by_a();
  pass(kPast);
  ASSERT_TRUE(b->claim("agent"));
  const auto before = record();
  EXPECT_FALSE(a->renew(first));
  EXPECT_EQ(record(), before);
}
TEST_P(ByProof, b14_a_silent_living_holder_renews_because_nobody_could_take_over) {
  const Lease first = held_by_a();
  pass(kPast);
  ASSERT_FALSE(b->claim("agent"));
  EXPECT_TRUE(a->renew(first));
  EXPECT_FALSE(b->claim("agent"));
}

TEST_P(ByAge, b15_verify_finds_a_loss_writes_nothing_and_passes_while_expired_but_untaken) {
  const Lease first = held_by_a();
  pass(kPast);
  const auto before = record();
  EXPECT_TRUE(a->verify(first));
  EXPECT_EQ(record(), before);
  ASSERT_TRUE(b->claim("agent"));
  EXPECT_FALSE(a->verify(first));
}
TEST_P(ByProof, b15_verify_of_a_silent_living_holder_stays_true_and_writes_nothing) {
  const Lease first = held_by_a();
  pass(kPast);
  ASSERT_FALSE(b->claim("agent"));
  const auto before = record();
  EXPECT_TRUE(a->verify(first));
  EXPECT_EQ(record(), before);
}

TEST_P(Behaviours, b16_release_deletes_the_file) {
  EXPECT_TRUE(a->release(held_by_a()));
  EXPECT_FALSE(record());
  EXPECT_FALSE(b->lookup("agent"));
}

TEST_P(ByAge, b17_release_after_a_takeover_leaves_the_new_owners_file) {
  const Lease first = held_by_a();
  pass(kPast);
  ASSERT_TRUE(b->claim("agent"));
  const auto before = record();
  EXPECT_FALSE(a->release(first));
  EXPECT_EQ(record(), before);
}
TEST_P(ByProof, b17_release_of_a_silent_living_holder_is_its_own) {
  const Lease first = held_by_a();
  pass(kPast);
  ASSERT_FALSE(b->claim("agent"));
  EXPECT_TRUE(a->release(first));
  EXPECT_TRUE(b->claim("agent"));
}

TEST_P(Behaviours, b18_a_second_block_of_one_process_is_refused_while_the_first_holds) {
  const Lease first = held_by_a();
  EXPECT_FALSE(a->claim("agent", "block-2"));
  EXPECT_EQ(a->refused_by().block, "block-1");
  EXPECT_TRUE(a->release(first));
  EXPECT_TRUE(a->claim("agent", "block-2"));
}

TEST_P(Behaviours, b19_a_same_block_reclaim_fences_the_old_handle_under_the_same_epoch) {
  const Lease first = held_by_a();
  auto second = a->claim("agent");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->epoch, first.epoch);
  const auto before = record();
  EXPECT_FALSE(a->verify(first));
  EXPECT_FALSE(a->renew(first));
  EXPECT_FALSE(a->release(first));
  EXPECT_EQ(record(), before);
  EXPECT_TRUE(a->verify(*second));
}
TEST_P(ByProof, b19_a_same_block_reclaim_of_a_silent_living_holder_is_no_takeover) {
  const Lease first = held_by_a();
  pass(kPast);
  auto second = a->claim("agent");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->epoch, first.epoch);
  EXPECT_FALSE(a->verify(first));
  EXPECT_TRUE(a->verify(*second));
}

TEST_P(ByAge, b20_a_block_that_took_over_after_expiry_is_higher_fences_the_first_and_survives_its_release) {
  const Lease first = held_by_a();
  pass(kPast);
  auto second = a->claim("agent", "block-2");
  if (GetParam().expiry == Expiry::proof) {
    EXPECT_FALSE(second) << "its own contender is ours, and goes by proof";
    return;
  }
  ASSERT_TRUE(second);
  EXPECT_GT(second->epoch, first.epoch);
  EXPECT_FALSE(a->verify(first));
  EXPECT_FALSE(a->renew(first));
  EXPECT_FALSE(a->release(first));
  EXPECT_TRUE(a->verify(*second));
}
TEST(ByProofAlone, b20_another_block_of_a_living_process_is_refused_after_the_ttl_too) {
  FilesWorld world;
  OurParty a(world, "boot-aaaa", {});
  auto first = a.claim("agent", "block-1");
  world.clock->advance(kPast);
  EXPECT_FALSE(a.claim("agent", "block-2"));
  EXPECT_EQ(a.error()->code, Code::held_by_part);
  EXPECT_TRUE(a.verify(*first));
}

TEST_P(Behaviours, b21_release_of_a_missing_lease_is_no_error_twice) {
  const Lease lease = held_by_a();
  ASSERT_TRUE(a->release(lease));
  EXPECT_FALSE(a->release(lease));
  EXPECT_FALSE(a->release(lease));
  if (auto* ours = dynamic_cast<OurParty*>(a.get())) {
    EXPECT_FALSE(ours->error()) << ours->error()->message;
  }
}

TEST_P(Behaviours, b22_the_lookup_ignores_oneself_and_carries_channel_and_version) {
  held_by_a();
  EXPECT_FALSE(a->lookup("agent"));
  auto seen = b->lookup("agent");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->boot, "boot-aaaa");
  EXPECT_EQ(seen->channel, "stable");
  EXPECT_EQ(seen->version, "0.44.2");
}

TEST_P(ByAge, b23_the_lookup_ignores_an_expired_lease) {
  held_by_a();
  EXPECT_TRUE(b->lookup("agent"));
  pass(kPast);
  EXPECT_FALSE(b->lookup("agent"));
}
TEST_P(ByProof, b23_the_lookup_shows_a_silent_living_holder_and_since_when_it_is_silent) {
  held_by_a();
  pass(1h);
  EXPECT_TRUE(b->lookup("agent"));
  auto seen = world.client().engine->holder(key("agent"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->verdict.liveness, Liveness::live);
  EXPECT_EQ(seen->silent_for.has_value(), !GetParam().holder_is_agentmux);  // AgentMux's stamp is of a wall clock
}

TEST_P(Behaviours, b24_of_eight_concurrent_claimants_exactly_one_wins) {
  std::vector<std::unique_ptr<Party>> parties;
  for (int i = 0; i < 8; ++i) {
    const bool agentmux = i % 2 == 0 ? GetParam().holder_is_agentmux : GetParam().contender_is_agentmux;
    parties.push_back(make_party(agentmux, world, "boot-000" + std::to_string(i)));
  }
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  threads.reserve(parties.size());
  for (auto& party : parties) {
    threads.emplace_back([&] { winners += party->claim("agent") ? 1 : 0; });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
}

}  // namespace
}  // namespace tenure::tests
