#include "files/scenarios.h"

#include <gtest/gtest.h>

#include <set>

namespace tenure::tests {
namespace {

constexpr Duration kPast = 15s + 1ms;

template <class T>
Ending ending(const Result<T>& result) {
  return result ? Ending{} : Ending{result.error()};
}

Ending claim_it(Stage& stage, bool keep_descriptor = false) {
  ClaimRequest wanted = request(kKey, "actor");
  wanted.keep_life_descriptor = keep_descriptor;
  auto grant = stage.actor.engine->try_claim(wanted);
  stage.note(grant);
  if (grant) stage.actors = *grant;
  return ending(grant);
}

Ending beat_it(Stage& stage) {
  return ending(stage.actor.engine->beat(ref(*stage.actors)));
}
Ending renew_it(Stage& stage) {
  return ending(stage.actor.engine->renew(ref(*stage.actors)));
}
Ending release_it(Stage& stage) {
  return ending(stage.actor.engine->release(ref(*stage.actors)));
}
Ending guard_it(Stage& stage) {
  return ending(stage.actor.engine->guard(guard_of(*stage.actors, 60s), [] { return Result<void>{}; }));
}
Ending revoke_it(Stage& stage, bool force) {
  return ending(stage.actor.engine->revoke({key(kKey), force ? "because" : "", force, std::nullopt}));
}

void hold(Stage& stage) {
  stage.use_once();
  stage.actors = stage.claim(stage.actor, "actor");
}
void hold_with_ttl(Stage& stage) {
  ClaimRequest wanted = request(kKey, "actor");
  wanted.terms.ttl = 1h;
  stage.actors = stage.claim(stage.actor, "actor", wanted);
  stage.world.clock->advance(10s);
}
void other_holds(Stage& stage, const fakes::Birth& birth = {}) {
  stage.use_once();
  stage.others = stage.claim(stage.make_other(birth), "other");
}
void other_is_dead(Stage& stage) {
  other_holds(stage);
  stage.world.world->kill(stage.other->number);
  stage.others.reset();
}
void damage(Stage& stage) {
  stage.world.disk->place(stage.record(), fakes::Placed::file, "{ \"half\": ");
}
void other_is_dead_and_damaged(Stage& stage) {
  other_is_dead(stage);
  damage(stage);
}
void damage_epochs(Stage& stage) {
  stage.world.disk->place("k.epoch", fakes::Placed::file, "many\n");
  stage.world.disk->place("k.lock", fakes::Placed::file, "garbage");
}

std::vector<Scenario> claims() {
  return {
      {"first claim", [](Stage&) {}, [](Stage& s) { return claim_it(s); }},
      {"claim of a free key", [](Stage& s) { s.use_once(); }, [](Stage& s) { return claim_it(s); }},
      {"claim with a descriptor", [](Stage& s) { s.use_once(); }, [](Stage& s) { return claim_it(s, true); }},
      {"reclaim", hold, [](Stage& s) { return claim_it(s); }},
      {"reclaim with a descriptor", hold, [](Stage& s) { return claim_it(s, true); }},
      {"takeover of a dead holder", other_is_dead, [](Stage& s) { return claim_it(s); }},
      {"takeover of a damaged record",
       [](Stage& s) {
         other_is_dead_and_damaged(s);
         s.watch_out();
       },
       [](Stage& s) { return claim_it(s); }},
      {"takeover by watching",
       [](Stage& s) {
         other_holds(s, {.machine = "machine-b", .host = "host-b"});
         s.world.world->kill(s.other->number);
         s.others.reset();
         s.watch_out();
       },
       [](Stage& s) { return claim_it(s); }},
      {"takeover past a hard TTL",
       [](Stage& s) {
         ClaimRequest wanted = request(kKey, "other");
         wanted.terms.ttl = 5s;
         s.others = s.claim(s.make_other(), "other", wanted);
         s.world.clock->advance(6s);
       },
       [](Stage& s) { return claim_it(s); }, true},
      {"claim where the counter is gone",
       [](Stage& s) {
         s.use_once();
         s.world.disk->erase("k.epoch");
       },
       [](Stage& s) { return claim_it(s); }},
      {"claim after AgentMux, which counts in the counter alone",
       [](Stage& s) {
         s.use_once();
         s.world.disk->place("k.epoch", fakes::Placed::file, "99\n");
         s.highest = 99;
       },
       [](Stage& s) { return claim_it(s); }},
      {"refused claim that keeps its first sight",
       [](Stage& s) { other_holds(s, {.machine = "machine-b", .host = "host-b"}); },
       [](Stage& s) { return claim_it(s); }},
  };
}

std::vector<Scenario> keeping() {
  return {
      {"beat", hold, beat_it},
      {"renew", hold_with_ttl, renew_it},
      {"late renew",
       [](Stage& s) {
         hold_with_ttl(s);
         s.world.clock->advance(2h);
       },
       renew_it},
      {"beat where a cleaner took the record",
       [](Stage& s) {
         hold(s);
         s.world.disk->erase(s.record());
       },
       beat_it},
      {"beat where the record was damaged",
       [](Stage& s) {
         hold(s);
         damage(s);
       },
       beat_it},
      {"verify", hold, [](Stage& s) { return ending(s.actor.engine->verify(ref(*s.actors))); }},
      {"guard", hold, guard_it},
      {"release", hold, release_it},
      {"release of a damaged record",
       [](Stage& s) {
         hold(s);
         damage(s);
       },
       release_it},
  };
}

std::vector<Scenario> revocations() {
  return {
      {"revoke of a dead holder", other_is_dead, [](Stage& s) { return revoke_it(s, false); }},
      {"forced revoke of a living holder", [](Stage& s) { other_holds(s); },
       [](Stage& s) { return revoke_it(s, true); }, true},
      {"forced revoke of a damaged record", other_is_dead_and_damaged, [](Stage& s) { return revoke_it(s, true); }},
      {"forced repair of the epoch",
       [](Stage& s) {
         s.use_once();
         damage_epochs(s);
       },
       [](Stage& s) { return revoke_it(s, true); }},
      {"forced revoke and repair of the epoch",
       [](Stage& s) {
         other_is_dead_and_damaged(s);
         damage_epochs(s);
       },
       [](Stage& s) { return revoke_it(s, true); }},
  };
}

bool belongs_to_the_key(const std::string& name) {
  static const std::set<std::string> kStays = {"k.lock", "k.epoch", "k.life", "k.seen", "k.revoked.json"};
  return kStays.contains(name) || name.starts_with("k.evidence-");
}

bool stands(FilesClient& client, const std::optional<Grant>& grant) {
  return grant && client.engine->verify(ref(*grant)).has_value();
}

// The stranger's claim: now, or when what nobody can prove has been unchanged for a TTL.
Result<Grant> claim_at_last(Stage& stage, FilesClient& stranger) {
  auto grant = stranger.engine->try_claim(request(kKey, "stranger"));
  if (!grant && grant.error().code == Code::held) {
    stage.world.clock->advance(kPast);
    grant = stranger.engine->try_claim(request(kKey, "stranger"));
  }
  if (!grant && grant.error().code == Code::epoch_unreadable) {
    EXPECT_NE(grant.error().remedy.find("by force"), std::string::npos) << grant.error().remedy;
    EXPECT_TRUE(stranger.engine->revoke({key(kKey), "repair", true, std::nullopt}));
    grant = stranger.engine->try_claim(request(kKey, "stranger"));
  }
  return grant;
}

}  // namespace

Grant Stage::claim(FilesClient& client, const std::string& owner, const ClaimRequest& wanted) {
  auto grant = client.engine->try_claim(wanted);
  EXPECT_TRUE(grant) << owner << ": " << grant.error().message;
  note(grant);
  return grant.value_or(Grant{key(kKey), {}, {}});
}

void Stage::use_once() {
  FilesClient former = world.client({.command = "former"});
  const Grant grant = claim(former, "former");
  EXPECT_TRUE(former.engine->release(ref(grant)));
}

FilesClient& Stage::make_other(const fakes::Birth& birth) {
  fakes::Birth called = birth;
  called.command = "other";
  other = world.client(called);
  return *other;
}

void Stage::watch_out() {
  EXPECT_FALSE(actor.engine->try_claim(request(kKey, "actor")));
  world.clock->advance(kPast);
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kAll = [] {
    std::vector<Scenario> all = claims();
    for (auto more : {keeping(), revocations()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

std::size_t calls_of(const Scenario& scenario) {
  Stage stage;
  scenario.prepare(stage);
  const auto plan = stage.world.disk->faults(stage.actor.number);
  const std::size_t before = plan->calls().size();
  scenario.act(stage);
  return plan->calls().size() - before;
}

int holders(Stage& stage) {
  int count = 0;
  if (stage.world.world->running(stage.actor.number)) count += stands(stage.actor, stage.actors) ? 1 : 0;
  if (stage.other && stage.world.world->running(stage.other->number)) {
    count += stands(*stage.other, stage.others) ? 1 : 0;
  }
  return count;
}

void recover(Stage& stage) {
  const int before = holders(stage);
  ASSERT_LE(before, 1) << "two hold it";
  FilesClient stranger = stage.world.client({.command = "stranger"});
  auto seen = stranger.engine->holder(key(kKey));
  ASSERT_TRUE(seen) << seen.error().message;
  if (before == 1) {
    auto refused = stranger.engine->try_claim(request(kKey, "stranger"));
    EXPECT_FALSE(refused) << "granted beside a holder who lives";
    EXPECT_EQ(holders(stage), 1) << "lost by a claim that was refused";
    for (FilesClient* client : {&stage.actor, stage.other ? &*stage.other : nullptr}) {
      auto& grant = client == &stage.actor ? stage.actors : stage.others;
      if (client == nullptr || !stage.world.world->running(client->number) || !stands(*client, grant)) continue;
      auto released = client->engine->release(ref(*grant));
      EXPECT_TRUE(released) << released.error().message;
    }
  }
  auto grant = claim_at_last(stage, stranger);
  ASSERT_TRUE(grant) << "not to be had: " << grant.error().message;
  EXPECT_GT(grant->epoch.value(), stage.highest) << "a number twice";
  EXPECT_EQ(holders(stage), 0) << "somebody else believes that it holds it still";
  EXPECT_TRUE(stranger.engine->verify(ref(*grant)));
  auto released = stranger.engine->release(ref(*grant));
  EXPECT_TRUE(released) << released.error().message;
  for (const std::string& name : stage.world.disk->names()) {
    EXPECT_TRUE(belongs_to_the_key(name)) << name << " was left behind";
  }
}

}  // namespace tenure::tests
