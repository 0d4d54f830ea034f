// Members as threads over one memory: under ThreadSanitizer a lease must order what its holders do as a mutex would.
//
// What a key guards is plain memory here, without any atomic. Kept keys are never taken from the living, so only their
// holder may write what they guard, or who holds one of their slots what that guards; readers read. Taken keys are
// revoked at any time. Members die, slowly or at once, and are stopped.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/check.h"
#include "engine/local/local.h"
#include "fakes/fake_local_folder.h"
#include "fakes/fake_random.h"
#include "os/linux/real_clock.h"
#include "rules/sharing.h"

namespace tenure::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMembers = 8;
constexpr int kThreads = 2;  // of each
constexpr int kKeptKeys = 3;
constexpr int kTurns = 250;  // of each thread
constexpr Duration kLongest = seconds(20);
constexpr int kLeastGrants = kMembers * kThreads * 2;  // on a machine that is busy with other things, too

const Key& key_of(int number) {
  // The third has more bytes than a slot has room for.
  static const std::array keys{*Key::parse("kept"), *Key::parse("kept as well"), *Key::parse(std::string(200, 'k')),
                               *Key::parse("taken")};
  return keys[static_cast<std::size_t>(number)];
}
constexpr int kKeys = 4;

// The pace of the storm; nothing is waited for.
void pause(int most_ms) {
  ::poll(nullptr, 0, most_ms);
}

constexpr std::uint32_t kSlots = 3;

// Written by the holder alone; of `slots`, by who holds that one.
struct Guarded {
  int inside = 0;
  std::array<int, kSlots> slots{};
  std::uint64_t epoch = 0;
  std::uint64_t grants = 0;
};

struct Member {
  fakes::ProcessNumber process{};
  std::shared_ptr<Engine> engine;
  // Shared: a call is under way. Exclusive: it dies.
  std::shared_mutex calls;
};

class Storm {
 public:
  Storm() {
    // So that a wake that was lost is not made good by the fakes.
    store_->set_longest_sleep(seconds(5));
    for (Member& member : members_) join(member);
  }

  void run() {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kMembers * kThreads; ++i) threads.emplace_back([this, i] { work(i); });
      std::jthread chaos([this] { rage(); });
      threads.clear();
      done_ = true;
    }
    judge();
  }

 private:
  using Random = std::mt19937;
  static int below(Random& random, int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random); }

  void join(Member& member) {
    member.process = world_->spawn();
    env::Environment environment{std::make_shared<const os::RealClock>(),
                                 std::make_shared<fakes::FakeRandom>(++joined_), world_->view(member.process)};
    LocalOptions options;
    options.limits = {.members = 64, .buckets = 2, .cells = 4'096, .first_cells = 128, .events = 256};
    auto engine = open_local(store_->open(member.process), store_->words(member.process), environment, options);
    ASSERT_TRUE(engine) << engine.error().message;
    member.engine = *engine;
  }

  void work(int number);
  void turn(Engine& engine, Random& random, int thread);
  void claim_shortly(Engine& engine, Random& random);
  void hold(Engine& engine, Random& random, const Grant& grant, int key, const Terms& terms);
  void use(int key, Epoch epoch);
  void use_together(int key, const Grant& grant);
  void revoke(Engine& engine);

  void rage();
  void kill(Random& random);
  void judge();

  std::shared_ptr<fakes::FakeWorld> world_ = fakes::FakeWorld::create();
  std::shared_ptr<fakes::FakeLocalStore> store_ =
      fakes::FakeLocalStore::create(world_, std::make_shared<fakes::FakeClock>());
  std::uint64_t joined_ = 0;
  // The engines of the dead stay as they are: what their ends would write is not theirs any more.
  std::vector<std::shared_ptr<Engine>> graveyard_;
  std::array<Member, kMembers> members_;
  std::array<Guarded, kKeptKeys> guarded_;
  std::array<std::atomic<const Stop*>, kMembers * kThreads> stops_{};
  std::mutex stopping_;                     // a Stop of `stops_` is in use
  std::atomic<std::uint64_t> together_{0};  // grants of leases together with others
  std::atomic<bool> done_{false};
};

void Storm::work(int number) {
  Random random(static_cast<unsigned>(number));
  Member& member = members_[static_cast<std::size_t>(number / kThreads)];
  const MonotonicTime until = os::RealClock().monotonic() + kLongest;
  for (int i = 0; i < kTurns && os::RealClock().monotonic() < until; ++i) {
    std::shared_lock call(member.calls);
    turn(*member.engine, random, number);
  }
}

void Storm::turn(Engine& engine, Random& random, int thread) {
  const int kind = below(random, 20);
  if (kind == 0) return revoke(engine);
  if (kind < 5) return claim_shortly(engine, random);
  const int key = below(random, kKeys);
  ClaimRequest request{.key = key_of(key)};
  switch (below(random, 6)) {
    case 0:
    case 1:
      request.terms.mode = Mode::shared;
      break;
    case 2:
      request.terms.slots = kSlots;
      break;
    default:
      break;
  }
  if (kind < 8) {
    auto granted = engine.try_claim(request);
    if (granted) return hold(engine, random, *granted, key, request.terms);
    const Code code = granted.error().code;
    EXPECT_TRUE(code == Code::held || code == Code::held_by_part || code == Code::section_busy)
        << granted.error().message;
    return;
  }
  auto stop = Stop::create();
  ASSERT_TRUE(stop);
  std::atomic<const Stop*>& shown = stops_[static_cast<std::size_t>(thread)];
  shown = &*stop;
  Wait wait{.at_most = milliseconds(below(random, 40)), .stop = &*stop};
  if (kind == 8) {
    wait.ticket = "of thread " + std::to_string(thread);
    wait.grace = milliseconds(5);
  }
  auto granted = engine.await(request, wait);
  {
    std::lock_guard lock(stopping_);
    shown = nullptr;
  }
  if (granted) return hold(engine, random, *granted, key, request.terms);
  const Code code = granted.error().code;
  EXPECT_TRUE(code == Code::timed_out || code == Code::cancelled || code == Code::section_busy)
      << granted.error().message;
}

void Storm::claim_shortly(Engine& engine, Random& random) {
  ShortWay& way = *engine.short_way();
  ShortGrant grant;
  const int key = below(random, 2);
  if (!way.claim(key_of(key), grant)) return way.give_back_place(grant);
  use(key, grant.epoch);
  EXPECT_TRUE(way.current(grant));
  if (!way.release(grant)) {
    auto released = engine.release({key_of(key), grant.claim, grant.epoch});
    EXPECT_TRUE(released && released->released);
    return;
  }
  way.give_back_place(grant);
}

void Storm::use(int key, Epoch epoch) {
  Guarded& guarded = guarded_[static_cast<std::size_t>(key)];
  EXPECT_EQ(guarded.inside++, 0);
  for (int& slot : guarded.slots) EXPECT_EQ(std::exchange(slot, 0), 0);
  EXPECT_GT(epoch.value(), guarded.epoch);
  guarded.epoch = epoch.value();
  ++guarded.grants;
  std::this_thread::yield();
  EXPECT_EQ(--guarded.inside, 0);
}

void Storm::use_together(int key, const Grant& grant) {
  Guarded& guarded = guarded_[static_cast<std::size_t>(key)];
  ++together_;
  EXPECT_EQ(guarded.inside, 0);
  EXPECT_GT(grant.epoch.value(), guarded.epoch);
  if (!grant.slot) {
    for (const int slot : guarded.slots) EXPECT_EQ(slot, 0);
    return;
  }
  ASSERT_LT(*grant.slot, kSlots);
  EXPECT_EQ(guarded.slots[*grant.slot]++, 0);
  std::this_thread::yield();
  EXPECT_EQ(--guarded.slots[*grant.slot], 0);
}

void Storm::hold(Engine& engine, Random& random, const Grant& grant, int key, const Terms& terms) {
  const ClaimRef claim{grant.key, grant.claim, grant.epoch};
  const bool kept = key < kKeptKeys;
  if (kept && rules::together(terms)) {
    use_together(key, grant);
  } else if (kept) {
    use(key, grant.epoch);
  }
  auto standing = engine.verify(claim);
  if (!standing && (kept || standing.error().code != Code::lost)) {
    EXPECT_EQ(standing.error().code, Code::section_busy) << standing.error().message;
  }
  // A lease that is not given back ends with the member.
  if (below(random, 100) == 0) return;
  auto released = engine.release(claim);
  for (int i = 0; i < 10 && !released && released.error().code == Code::section_busy; ++i)
    released = engine.release(claim);
  if (kept) {
    EXPECT_TRUE(released && released->released);
  }
}

void Storm::revoke(Engine& engine) {
  auto revoked = engine.revoke({key_of(kKeptKeys), "a storm", true, std::nullopt});
  if (revoked) return;
  const Code code = revoked.error().code;
  EXPECT_TRUE(code == Code::not_held || code == Code::epoch_changed || code == Code::section_busy)
      << revoked.error().message;
}

void Storm::kill(Random& random) {
  Member& member = members_[static_cast<std::size_t>(below(random, kMembers))];
  std::unique_lock none_under_way(member.calls);
  const auto dying = member.process;
  const bool slowly = below(random, 2) == 0;
  if (slowly) store_->die_slowly(dying);
  world_->kill(dying);
  graveyard_.push_back(std::exchange(member.engine, nullptr));
  join(member);
  none_under_way.unlock();
  if (!slowly) return;
  std::this_thread::yield();
  store_->let_go(dying);
}

void Storm::rage() {
  Random random(4'711);
  while (!done_) {
    switch (below(random, 4)) {
      case 0:
        kill(random);
        break;
      case 1: {
        // As a machine with little to spare does it: for a moment.
        Member& member = members_[static_cast<std::size_t>(below(random, kMembers))];
        const auto process = member.process;
        world_->stop(process);
        pause(below(random, 8));
        world_->resume(process);
        break;
      }
      default: {
        std::lock_guard lock(stopping_);
        const Stop* stop = stops_[static_cast<std::size_t>(below(random, kMembers * kThreads))];
        if (stop != nullptr) stop->request();
      }
    }
    pause(1 + below(random, 3));
  }
}

void Storm::judge() {
  std::uint64_t grants = together_;
  EXPECT_GE(together_.load(), static_cast<std::uint64_t>(kLeastGrants / 4));
  for (const Guarded& guarded : guarded_) {
    EXPECT_EQ(guarded.inside, 0);
    grants += guarded.grants;
  }
  EXPECT_GE(grants, static_cast<std::uint64_t>(kLeastGrants));
  // The living end with what they did not give back: all keys are to be had by somebody who comes later.
  Member& last = members_[0];
  for (Member& member : members_) {
    if (&member == &last) continue;
    world_->kill(member.process);
    graveyard_.push_back(std::exchange(member.engine, nullptr));
  }
  world_->kill(last.process);
  graveyard_.push_back(std::exchange(last.engine, nullptr));
  join(last);
  for (int key = 0; key < kKeys; ++key) {
    auto granted = last.engine->await({.key = key_of(key)}, Wait{.at_most = seconds(10)});
    ASSERT_TRUE(granted) << granted.error().message;
    if (key < kKeptKeys) {
      EXPECT_GT(granted->epoch.value(), guarded_[static_cast<std::size_t>(key)].epoch);
    }
    EXPECT_TRUE(last.engine->release({granted->key, granted->claim, granted->epoch}));
  }
  for (const std::string& fault : faults_in(core_of(*last.engine))) ADD_FAILURE() << fault;
}

TEST(ThreadStorm, ALeaseOrdersWhatItsHoldersDo) {
  Storm().run();
}

}  // namespace
}  // namespace tenure::local
