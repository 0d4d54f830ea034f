// The ceiling on a disk that forgets: no epoch that may have been given out is ever given out again.
//
// The worst is assumed of every table: that it gave out all epochs up to the bound that it was told. The clock on the
// wall stands still, so that it hides nothing.
#include "engine/local/ceiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "fakes/fake_local_folder.h"

namespace tenure::local {
namespace {

using fakes::Fault;
using fakes::FaultPlan;
using fakes::Placed;
using fakes::PowerLoss;

constexpr std::uint64_t kMostCalls = 200;
const std::vector<std::string> kCopies{"ceiling", "ceiling.copy"};

// One process that has the folder open.
struct Party {
  fakes::ProcessNumber process;
  std::unique_ptr<env::LocalFolder> folder;
  std::unique_ptr<Ceiling> ceiling;
};

// One space and what was given out in it.
class Space {
 public:
  Party party() {
    const auto process = world->spawn();
    auto folder = store->open(process);
    auto ceiling = std::make_unique<Ceiling>(*folder, *clock);
    return {process, std::move(folder), std::move(ceiling)};
  }
  FaultPlan& faults(const Party& party) { return *store->faults(party.process); }

  // A new table, which then gives out all that it may.
  Result<Ceiling::Start> begin(const Party& who) {
    auto started = who.ceiling->start_new_table();
    if (!started) return started;
    EXPECT_GE(started->start, given) << "an epoch can be given out twice";
    EXPECT_GT(started->bound, started->start);
    use(started->bound);
    return started;
  }
  Result<Epoch> raise(const Party& who) {
    auto bound = who.ceiling->raise(given);
    if (!bound) return bound;
    EXPECT_GT(*bound, given);
    use(*bound);
    return bound;
  }
  void use(Epoch bound) {
    for (const std::string& name : kCopies) EXPECT_GE(durable_bound(name), bound) << name << " is not durable";
    given = std::max(given, bound);
  }

  Epoch durable_bound(const std::string& name) const {
    const auto bytes = store->disk().durable_bytes(name);
    const auto record = decode_ceiling_record(bytes.value_or(""));
    return record ? record->bound : Epoch{};
  }
  void damage(const std::string& name, Placed kind = Placed::file) {
    store->disk().place(name, kind, "tenure-ceiling 1 9 9 9");
  }

  std::shared_ptr<fakes::FakeWorld> world = fakes::FakeWorld::create();
  std::shared_ptr<fakes::FakeClock> clock = std::make_shared<fakes::FakeClock>();
  std::shared_ptr<fakes::FakeLocalStore> store = fakes::FakeLocalStore::create(world, clock);
  Epoch given;
};

bool noted(const Ceiling::Start& start, const std::string& words) {
  return std::any_of(start.notes.begin(), start.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

// What a process does in the middle of which something happens.
struct Deed {
  const char* name;
  bool used_before;
  std::function<void(Space&, const Party&)> run;
};
const std::vector<Deed>& deeds() {
  static const std::vector<Deed> all{
      {"the first table", false, [](Space& space, const Party& who) { (void)space.begin(who); }},
      {"another table", true, [](Space& space, const Party& who) { (void)space.begin(who); }},
      {"a raise", true, [](Space& space, const Party& who) { (void)space.raise(who); }},
      {"a raise that mends a copy", true,
       [](Space& space, const Party& who) {
         space.damage("ceiling.copy");
         (void)space.raise(who);
       }},
      {"a table from one copy", true,
       [](Space& space, const Party& who) {
         space.damage("ceiling");
         (void)space.begin(who);
       }},
      {"two raises and a table", true,
       [](Space& space, const Party& who) {
         (void)space.raise(who);
         (void)space.raise(who);
         (void)space.begin(who);
       }},
  };
  return all;
}

// Runs each deed once for each of its calls to the disk, with that fault there, and then `after`.
void for_each_call(Fault fault, const std::function<void(Space&)>& after) {
  for (const Deed& deed : deeds()) {
    bool more = true;
    for (std::uint64_t nth = 1; more && nth < kMostCalls; ++nth) {
      SCOPED_TRACE(std::string(deed.name) + ", call " + std::to_string(nth));
      Space space;
      if (deed.used_before) {
        ASSERT_TRUE(space.begin(space.party()));
      }
      const Party who = space.party();
      space.faults(who).at_call(nth, fault);
      deed.run(space, who);
      more = space.faults(who).calls().size() >= nth;
      space.faults(who).clear();
      after(space);
    }
    EXPECT_FALSE(more) << "more calls than were tried";
  }
}

TEST(CeilingOnDisk, NoEpochComesTwiceWhenThePowerGoesAtAnyCall) {
  const std::vector<PowerLoss> ways{
      {}, {.names_survive = true}, {.tear_at = 0}, {.tear_at = 30, .names_survive = true}};
  for (const PowerLoss& way : ways) {
    for (const Fault::Kind kind : {Fault::Kind::die_before, Fault::Kind::die_after}) {
      for_each_call({kind, Code::internal}, [&](Space& space) {
        space.world->reboot("machine-a");
        space.store->lose_power(way);
        const auto again = space.begin(space.party());
        EXPECT_TRUE(again) << again.error().message;
        EXPECT_TRUE(space.raise(space.party()));
      });
    }
  }
}

TEST(CeilingOnDisk, NoEpochComesTwiceWhenAProcessDiesAtAnyCall) {
  for (const Fault::Kind kind : {Fault::Kind::die_before, Fault::Kind::die_after}) {
    for_each_call({kind, Code::internal}, [&](Space& space) {
      EXPECT_TRUE(space.given.none() || space.raise(space.party()));
      // What another believed, and what is left when the power goes right after.
      space.store->lose_power();
      EXPECT_TRUE(space.begin(space.party()));
    });
  }
}

TEST(CeilingOnDisk, NoEpochComesTwiceWhenAnyCallFails) {
  for (const Fault& fault :
       {Fault{Fault::Kind::refuse, Code::no_space}, Fault{Fault::Kind::refuse, Code::input_output},
        Fault{Fault::Kind::refuse, Code::no_descriptors}, Fault{Fault::Kind::lose_answer, Code::input_output}}) {
    for_each_call(fault, [&](Space& space) {
      EXPECT_TRUE(space.given.none() || space.raise(space.party()));
      space.store->lose_power();
      EXPECT_TRUE(space.begin(space.party()));
    });
  }
}

TEST(CeilingOnDisk, AFullDiskRefusesAndNothingIsLost) {
  Space space;
  space.store->disk().set_capacity(0);
  EXPECT_EQ(space.begin(space.party()).error().code, Code::no_space);
  space.store->disk().set_capacity(100'000);
  ASSERT_TRUE(space.begin(space.party()));
  space.store->disk().set_capacity(0);
  EXPECT_EQ(space.raise(space.party()).error().code, Code::no_space);
  EXPECT_EQ(space.begin(space.party()).error().code, Code::no_space);
  EXPECT_GE(space.durable_bound("ceiling"), space.given);
  space.store->disk().set_capacity(100'000);
  EXPECT_TRUE(space.raise(space.party()));
}

TEST(CeilingOnDisk, OneDamagedCopyIsEnoughToGoOnAndIsMended) {
  for (const std::string& name : kCopies) {
    for (const Placed kind : {Placed::file, Placed::fifo, Placed::link, Placed::foreign}) {
      Space space;
      ASSERT_TRUE(space.begin(space.party()));
      space.damage(name, kind);
      const auto again = space.begin(space.party());
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_TRUE(noted(*again, "was damaged"));
      space.store->disk().erase(name);
      const auto once_more = space.begin(space.party());
      ASSERT_TRUE(once_more);
      EXPECT_TRUE(noted(*once_more, "was missing"));
      const auto whole = space.begin(space.party());
      ASSERT_TRUE(whole);
      EXPECT_TRUE(whole->notes.empty()) << whole->notes.front();
    }
  }
}

TEST(CeilingOnDisk, ABadSectorIsDamageAndAWantOfDescriptorsIsNot) {
  Space space;
  ASSERT_TRUE(space.begin(space.party()));
  const Party who = space.party();
  space.faults(who).at("read", 1, {Fault::Kind::refuse, Code::input_output});
  const auto again = space.begin(who);
  ASSERT_TRUE(again);
  EXPECT_TRUE(noted(*again, "was damaged"));
  for (const Code code : {Code::no_descriptors, Code::not_permitted}) {
    space.faults(who).at("read", 1, {Fault::Kind::refuse, code});
    EXPECT_EQ(space.begin(who).error().code, code);
  }
}

TEST(CeilingOnDisk, TwoDamagedCopiesAreRefusedUntilAnOperatorRepairs) {
  for (const bool gone : {false, true}) {
    Space space;
    ASSERT_TRUE(space.begin(space.party()));
    const auto lost = [&] {
      for (const std::string& name : kCopies) gone ? space.store->disk().erase(name) : space.damage(name);
    };
    lost();
    const auto names = space.store->disk().names();
    const auto refused = space.begin(space.party());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::epoch_unreadable);
    EXPECT_NE(refused.error().remedy.find("tenure space repair"), std::string::npos);
    EXPECT_EQ(space.store->disk().names(), names) << "a refusal changed something";
    EXPECT_TRUE(space.raise(space.party())) << "a table in use knows how far the epochs have come";
    EXPECT_TRUE(space.begin(space.party()));
    lost();
    space.clock->advance(std::chrono::hours{1});  // that much was given out in less than it
    const auto repaired = space.party().ceiling->repair();
    ASSERT_TRUE(repaired) << repaired.error().message;
    EXPECT_GE(repaired->start, space.given);
    EXPECT_FALSE(repaired->notes.empty());
    space.use(repaired->bound);
    EXPECT_TRUE(space.begin(space.party()));
  }
}

TEST(CeilingOnDisk, ATableWithoutACeilingIsNoFirstUse) {
  Space space;
  space.store->disk().place("table", Placed::file, "something");
  EXPECT_EQ(space.begin(space.party()).error().code, Code::epoch_unreadable);
  space.store->disk().erase("table");
  EXPECT_TRUE(space.begin(space.party()));
}

TEST(CeilingOnDisk, AnOldCeilingUnderTheLivingLowersNothing) {
  for (std::size_t restored = 1; restored <= kCopies.size(); ++restored) {
    Space space;
    const Party who = space.party();
    ASSERT_TRUE(space.begin(who));
    const std::string old = space.store->disk().bytes("ceiling").value();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(space.raise(who));
    for (std::size_t i = 0; i < restored; ++i) space.store->disk().place(kCopies[i], Placed::file, old);
    if (restored == 1) {
      EXPECT_TRUE(space.begin(space.party())) << "the newer copy counts";
    }
    EXPECT_TRUE(space.raise(who));
    EXPECT_TRUE(space.begin(space.party()));
  }
}

TEST(CeilingOnDisk, ACopiedFolderJumpsAndSaysSoOnce) {
  Space space;
  const auto before = space.begin(space.party());
  ASSERT_TRUE(before);
  EXPECT_EQ(space.begin(space.party())->space, before->space);
  space.store->become_a_copy();
  const auto copied = space.begin(space.party());
  ASSERT_TRUE(copied);
  EXPECT_TRUE(noted(*copied, "copied or restored"));
  EXPECT_GE(copied->start.value(), before->bound.value() + rules::kCopiedJump);
  EXPECT_NE(copied->space, before->space);
  const auto settled = space.begin(space.party());
  ASSERT_TRUE(settled);
  EXPECT_TRUE(settled->notes.empty());
  EXPECT_EQ(settled->space, copied->space);
}

TEST(CeilingOnDisk, AClockThatRanAwayIsNotBelievedTheSecondTimeEither) {
  Space space;
  const auto before = space.begin(space.party());
  ASSERT_TRUE(before);
  space.clock->step_wall(std::chrono::hours{24 * 365 * 11});
  for (int i = 0; i < 2; ++i) {
    const auto again = space.begin(space.party());
    ASSERT_TRUE(again);
    EXPECT_TRUE(noted(*again, "ten years"));
    EXPECT_LT(again->start.value(), before->start.value() + 4 * rules::kCeilingBlock);
    ASSERT_TRUE(space.raise(space.party()));
  }
}

TEST(CeilingOnDisk, WhereAnotherRaisedItAlreadyNothingIsWritten) {
  Space space;
  const Party first = space.party();
  const Party second = space.party();
  const auto start = space.begin(first);
  ASSERT_TRUE(start);
  const auto raised = first.ceiling->raise(start->bound);
  ASSERT_TRUE(raised);
  EXPECT_EQ(second.ceiling->raise(start->bound).value(), *raised);
  const auto calls = space.faults(second).calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "replace.write"), 0);
  EXPECT_EQ(calls.back(), "sync") << "the first may have died before the names were durable";
}

TEST(CeilingOnDisk, NobodyReadsOrWritesWhileAnotherIsInside) {
  Space space;
  const Party inside = space.party();
  const Party outside = space.party();
  const auto start = space.begin(inside);
  ASSERT_TRUE(start);
  auto section = inside.folder->directory().lock("ceiling.lock", std::chrono::seconds{1}, nullptr);
  ASSERT_TRUE(section);
  auto waiting = std::async(std::launch::async, [&] { return outside.ceiling->raise(start->bound); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds{20}), std::future_status::timeout);
  space.clock->advance(std::chrono::seconds{11});
  EXPECT_EQ(waiting.get().error().code, Code::section_busy);
  EXPECT_EQ(space.faults(outside).calls(), std::vector<std::string>{"lock"});
  section->reset();
  EXPECT_TRUE(outside.ceiling->raise(start->bound));
}

TEST(CeilingOnDisk, ManyRaiseAtOnceAndEachGetsADurableBound) {
  Space space;
  const auto start = space.begin(space.party());
  ASSERT_TRUE(start);
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  std::vector<Party> parties;
  for (int i = 0; i < kThreads; ++i) parties.push_back(space.party());
  std::vector<std::thread> threads;
  for (const Party& who : parties) {
    threads.emplace_back([&space, &who, needed = start->bound]() mutable {
      for (int round = 0; round < kRounds; ++round) {
        const auto bound = who.ceiling->raise(needed);
        ASSERT_TRUE(bound) << bound.error().message;
        ASSERT_GE(bound->value(), needed.value() + rules::kCeilingBlock / 2);
        for (const std::string& name : kCopies) EXPECT_GE(space.durable_bound(name), *bound);
        needed = *bound;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CeilingOnDisk, TheLimitIsRefused) {
  Space space;
  const Party who = space.party();
  ASSERT_TRUE(space.begin(who));
  EXPECT_EQ(who.ceiling->raise(Epoch(Epoch::kLimit - 2)).value(), Epoch(Epoch::kLimit - 1));
  EXPECT_EQ(who.ceiling->raise(Epoch(Epoch::kLimit - 1)).error().code, Code::epoch_exhausted);
  EXPECT_EQ(who.ceiling->start_new_table().error().code, Code::epoch_exhausted);
}

}  // namespace
}  // namespace tenure::local
