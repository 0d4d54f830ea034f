// Death, and being stopped, at every named point inside a section: whoever comes later finds the table whole, the key
// to be had, and an epoch above every one before.
#include <gtest/gtest.h>
#include <signal.h>

#include <future>
#include <thread>

#include "deaths/actors.h"
#include "engine/local/check.h"
#include "engine/local/fault_point.h"
#include "engine/local/membership.h"

namespace tenure::local_test {
namespace {

using std::chrono::seconds;

// In a child: raises `signal` when the n-th point is passed. 0: counts only.
int passed_points = 0;
int raise_at = 0;
int raised_signal = SIGKILL;
void hook(const char* /*point*/) {
  if (++passed_points == raise_at) raise(raised_signal);
}

void arm(int at, int signal) {
  passed_points = 0;
  raise_at = at;
  raised_signal = signal;
  local::fault_hook = hook;
}

// What a victim does between being armed and its end. The others of the scene are the test itself.
struct Scene {
  const char* name;
  std::function<void(Engine& victim, const std::string& key)> prepare;  // unarmed
  std::function<void(Engine& victim, const std::string& key)> act;      // armed
  bool test_holds = false;  // the test holds the key meanwhile, and releases it when the victim waits
  bool test_waits = false;  // a thread of the test waits for the key
};

const std::string kLong(300, 'k');

void PrintTo(const Scene& scene, std::ostream* out) {
  *out << scene.name;
}

Wait up_to(Duration most) {
  return Wait{.at_most = most};
}

// Leaves a place in line with a ticket, of a member that was killed.
void leave_a_dead_poller(Engine& engine, const std::string& key) {
  const std::string path = local::core_of(engine).folder->path();
  Actor poller([&](const Actor::Line& line) {
    const auto own = join(path);
    Wait wait = up_to(std::chrono::milliseconds(1));
    wait.ticket = "of the dead";
    wait.grace = std::chrono::milliseconds(200);
    (void)own->await(request(key, "dead", "poller"), wait);
    line.say('p');
    (void)line.hear();
    return 0;
  });
  (void)poller.hear();
  poller.kill(SIGKILL);
  (void)poller.wait();
}

ClaimRequest reading(const std::string& key, const std::string& part) {
  ClaimRequest wanted = request(key, "victim", part);
  wanted.terms.mode = Mode::shared;
  return wanted;
}
ClaimRequest in_a_slot(const std::string& key, const std::string& part) {
  ClaimRequest wanted = request(key, "victim", part);
  wanted.terms.slots = 2;
  return wanted;
}

void claim_and_release(Engine& engine, const ClaimRequest& wanted, Duration wait = seconds(20)) {
  auto granted = engine.await(wanted, up_to(wait));
  if (granted) (void)engine.release({wanted.key, granted->claim, granted->epoch});
}

void must_claim(Engine& engine, const ClaimRequest& wanted) {
  if (!engine.try_claim(wanted)) ::_exit(4);
}

// Of leases that are held together with others.
std::vector<Scene> scenes_together() {
  const auto nothing = [](Engine&, const std::string&) {};
  const auto two_readers = [](Engine& engine, const std::string& key) {
    must_claim(engine, reading(key, "one"));
    must_claim(engine, reading(key, "two"));
  };
  return {
      {"a_reader", nothing,
       [](Engine& engine, const std::string& key) { claim_and_release(engine, reading(key, "one")); }},
      {"a_reader_beside_others", two_readers,
       [](Engine& engine, const std::string& key) { claim_and_release(engine, reading(key, "three")); }},
      {"a_reader_that_reads_again", two_readers,
       [](Engine& engine, const std::string& key) { (void)engine.try_claim(reading(key, "one")); }},
      {"one_in_a_slot", [](Engine& engine, const std::string& key) { must_claim(engine, in_a_slot(key, "one")); },
       [](Engine& engine, const std::string& key) {
         claim_and_release(engine, in_a_slot(key, "two"), std::chrono::milliseconds(20));
       },
       false, true},
      {"a_reader_that_waits", nothing,
       [](Engine& engine, const std::string& key) { claim_and_release(engine, reading(key, "one")); }, true, true},
      {"a_reader_that_comes_to_write",
       [](Engine& engine, const std::string& key) { must_claim(engine, reading(key, "one")); },
       [](Engine& engine, const std::string& key) { (void)engine.try_claim(request(key, "victim", "one")); }},
      {"a_reader_that_waits_to_write", two_readers,
       [](Engine& engine, const std::string& key) {
         (void)engine.await(request(key, "victim", "one"), up_to(std::chrono::milliseconds(20)));
       }},
      {"a_writer_that_comes_to_read",
       [](Engine& engine, const std::string& key) { must_claim(engine, request(key, "victim", "one")); },
       [](Engine& engine, const std::string& key) { (void)engine.try_claim(reading(key, "one")); }},
      {"a_revocation_of_readers", two_readers,
       [](Engine& engine, const std::string& key) {
         (void)engine.revoke({*Key::parse(key), "trial", true, std::nullopt});
       },
       false, true},
  };
}

ClaimRef of(const Grant& grant) {
  return {grant.key, grant.claim, grant.epoch};
}
// What the victim claimed to prepare its scene.
std::optional<Grant> prepared;
void claim_first(Engine& engine, const ClaimRequest& wanted) {
  auto granted = engine.try_claim(wanted);
  if (!granted) ::_exit(4);
  prepared = *granted;
}
constexpr Duration kOffered = std::chrono::milliseconds(60);  // so long the key of a dead one is kept
void offer(Engine& engine, Back back = Back::holder) {
  (void)engine.hand_off(of(*prepared), {.to = "successor", .within = kOffered, .back = back});
}

// Of requests to yield, and of leases that are handed over.
std::vector<Scene> scenes_of_yielding() {
  const auto holds = [](Engine& engine, const std::string& key) { claim_first(engine, request(key, "victim", "one")); };
  const auto asks = [](Engine& engine, const std::string& key) {
    (void)engine.ask({*Key::parse(key), "victim", "please", std::chrono::milliseconds(5), nullptr});
  };
  const auto adopts = [](Engine& engine, const std::string& key) {
    (void)engine.adopt(request(key, "successor", "one"));
  };
  return {
      {"a_request", [](Engine&, const std::string&) {}, asks, true},
      {"a_request_that_is_answered", holds,
       [asks](Engine& engine, const std::string& key) {
         std::thread asker([&] { asks(engine, key); });
         for (int i = 0; i < 1'000; ++i) {
           const auto pending = engine.asks(of(*prepared));
           if (!pending || pending->empty()) continue;
           (void)engine.answer(of(*prepared), pending->front().id, Answer::accept, "soon");
           break;
         }
         asker.join();
       }},
      {"an_offer", holds,
       [](Engine& engine, const std::string& /*key*/) {
         offer(engine);
         (void)engine.withdraw_hand_off(of(*prepared));
       }},
      {"an_offer_with_a_line", holds, [](Engine& engine, const std::string& /*key*/) { offer(engine, Back::line); },
       false, true},
      {"an_adoption",
       [holds](Engine& engine, const std::string& key) {
         holds(engine, key);
         offer(engine);
       },
       adopts},
      {"an_adoption_with_a_line",
       [holds](Engine& engine, const std::string& key) {
         holds(engine, key);
         offer(engine);
       },
       adopts, false, true},
      {"an_adoption_of_a_slot",
       [](Engine& engine, const std::string& key) {
         must_claim(engine, in_a_slot(key, "other"));
         claim_first(engine, in_a_slot(key, "one"));
         offer(engine);
       },
       adopts},
  };
}

std::vector<Scene> scenes() {
  const auto nothing = [](Engine&, const std::string&) {};
  const auto claims = [](Engine& engine, const std::string& key) { (void)engine.try_claim(request(key)); };
  const auto holds = [](Engine& engine, const std::string& key) {
    if (!engine.try_claim(request(key, "victim", "part"))) ::_exit(4);
  };
  const auto releases = [](Engine& engine, const std::string& key) {
    const auto seen = engine.holder(*Key::parse(key));
    (void)engine.revoke({*Key::parse(key), "a release by another way", true, seen->epoch});
  };
  const auto waits = [](Engine& engine, const std::string& key) {
    auto granted = engine.await(request(key, "victim", "waiter"), up_to(seconds(20)));
    if (granted) (void)engine.release({*Key::parse(key), granted->claim, granted->epoch});
  };
  return {
      {"a_claim", nothing, claims},
      {"a_claim_and_a_release", nothing,
       [](Engine& engine, const std::string& key) {
         auto granted = engine.try_claim(request(key, "victim", "part"));
         if (granted) (void)engine.release({*Key::parse(key), granted->claim, granted->epoch});
       }},
      {"the_short_way",
       [](Engine& engine, const std::string& key) {
         auto granted = engine.try_claim(request(key + ".before"));
         if (granted) (void)engine.release({*Key::parse(key + ".before"), granted->claim, granted->epoch});
       },
       [](Engine& engine, const std::string& key) {
         ShortGrant grant;
         if (engine.short_way()->claim(*Key::parse(key), grant)) (void)engine.short_way()->release(grant);
       }},
      {"a_revocation", holds, releases},
      {"a_reclaim", holds,
       [](Engine& engine, const std::string& key) { (void)engine.try_claim(request(key, "victim", "part")); }},
      {"a_revocation_with_a_line", holds, releases, false, true},
      {"a_wait_that_is_granted", nothing, waits, true},
      {"a_wait_that_is_granted_with_a_line", nothing, waits, true, true},
      {"a_wait_that_times_out", nothing,
       [](Engine& engine, const std::string& key) {
         (void)engine.await(request(key, "victim", "waiter"), up_to(std::chrono::milliseconds(20)));
       },
       true},
      {"a_wait_with_a_ticket", nothing,
       [](Engine& engine, const std::string& key) {
         Wait wait = up_to(std::chrono::milliseconds(5));
         wait.ticket = "ticket";
         wait.grace = seconds(1);
         for (int i = 0; i < 2; ++i) (void)engine.await(request(key, "victim", "waiter"), wait);
       },
       true},
      {"a_ticket_that_another_polled",
       [](Engine& engine, const std::string& key) {
         Wait wait = up_to(std::chrono::milliseconds(1));
         wait.ticket = "ticket";
         wait.grace = seconds(1);
         (void)engine.await(request(key, "victim", "first poller"), wait);
       },
       [](Engine& engine, const std::string& key) {
         Wait wait = up_to(std::chrono::milliseconds(5));
         wait.ticket = "ticket";
         wait.grace = std::chrono::milliseconds(20);
         (void)engine.await(request(key, "victim", "second poller"), wait);
       },
       true},
      {"a_dead_poller", [](Engine& engine, const std::string& key) { leave_a_dead_poller(engine, key); },
       [](Engine& engine, const std::string& key) {
         (void)engine.await(request(key, "victim", "waiter"), up_to(std::chrono::milliseconds(20)));
         local::clear_dead_members(local::core_of(engine));
       },
       true},
  };
}

class Deaths : public testing::TestWithParam<Scene> {
 protected:
  Folder folder_;
  std::shared_ptr<Engine> engine_ = join(folder_.path());
  std::uint64_t highest_ = 0;

  // Plays the scene once; nullopt in place of a signal: only counts the points. Returns what the victim ended with.
  int play(const std::string& key, int at, int signal) {
    const Scene& scene = GetParam();
    std::optional<Grant> held;
    if (scene.test_holds) held = *engine_->try_claim(request(key, "test", "holder"));
    Actor victim([&](const Actor::Line& line) {
      const auto engine = join(folder_.path());
      scene.prepare(*engine, key);
      line.say('r');
      (void)line.hear();
      arm(at, signal);
      scene.act(*engine, key);
      local::fault_hook = nullptr;
      // What it ended with is how many points it passed.
      line.say(static_cast<char>(std::min(passed_points, 100)));
      return 0;
    });
    EXPECT_EQ(victim.hear(), 'r');
    std::future<Result<Grant>> waiting;
    if (scene.test_waits) {
      waiting = std::async(std::launch::async, [this, key] {
        auto granted = engine_->await(request(key, "test", "waiter"), up_to(seconds(30)));
        if (granted) release(key, *granted);
        return granted;
      });
    }
    victim.say('g');
    if (held && (at == 0 || signal == SIGKILL)) release_when_waited_for(key, *held, victim);
    int points = 0;
    if (signal == SIGKILL || at == 0) {
      points = static_cast<unsigned char>(victim.hear());
      victim.wait();
    } else {
      // How many points it passes depends on how it meets others: it may have ended before.
      if (victim.wait_until_stopped()) {
        while_stopped(key, held);
        victim.kill(SIGCONT);
      }
      if (held) release(key, *held);
      victim.wait();
    }
    if (!scene.test_waits) expect_a_whole_table();  // nobody else is at work: as the victim left it
    afterwards(key, std::move(waiting));
    return points;
  }

  void release(const std::string& key, const Grant& held) {
    for (int i = 0; i < 20; ++i) {
      auto released = engine_->release({*Key::parse(key), held.claim, held.epoch});
      if (released || released.error().code != Code::section_busy) return;
    }
  }

  // As soon as the victim stands in line, or is gone.
  void release_when_waited_for(const std::string& key, const Grant& held, Actor& victim) {
    const auto stands = [&] {
      auto seen = engine_->holder(*Key::parse(key));
      return seen && seen->note.find("in line") != std::string::npos;
    };
    for (int i = 0; i < 2'000 && !stands() && !victim.over(); ++i) std::this_thread::yield();
    release(key, held);
  }

  // A member that is stopped inside holds its bucket up: nobody breaks in, and nobody waits for ever.
  void while_stopped(const std::string& key, const std::optional<Grant>& /*held*/) {
    auto claimed = engine_->try_claim(request(key, "test", "while stopped"));
    if (claimed) {
      EXPECT_TRUE(engine_->release({*Key::parse(key), claimed->claim, claimed->epoch}));
    } else {
      EXPECT_TRUE(claimed.error().code == Code::held || claimed.error().code == Code::held_by_part ||
                  claimed.error().code == Code::section_busy)
          << claimed.error().message;
    }
  }

  void afterwards(const std::string& key, std::future<Result<Grant>> waiting) {
    if (waiting.valid()) {
      auto granted = waiting.get();
      ASSERT_TRUE(granted) << granted.error().message;
      note(*granted);
    }
    auto granted = engine_->await(request(key, "test", "afterwards"), up_to(seconds(20)));
    ASSERT_TRUE(granted) << granted.error().message;
    note(*granted);
    EXPECT_TRUE(engine_->verify({*Key::parse(key), granted->claim, granted->epoch}));
    auto released = engine_->release({*Key::parse(key), granted->claim, granted->epoch});
    EXPECT_TRUE(released && released->released);
    expect_a_whole_table();
  }

  void die_at_every_point();

  void note(const Grant& grant) {
    EXPECT_GT(grant.epoch.value(), highest_);
    highest_ = grant.epoch.value();
  }

  void expect_a_whole_table() {
    for (const std::string& fault : local::faults_in(local::core_of(*engine_))) ADD_FAILURE() << fault;
  }
};

TEST_P(Deaths, AtEveryPointLeaveTheKeyToBeHad) {
  die_at_every_point();
}
// What it means to be stopped does not depend on how many hold a key: of these the deaths alone.
class Together : public Deaths {};
TEST_P(Together, AtEveryPointLeaveTheKeyToBeHad) {
  die_at_every_point();
}

class Yielding : public Deaths {};
TEST_P(Yielding, AtEveryPointLeaveTheKeyToBeHad) {
  die_at_every_point();
}

void Deaths::die_at_every_point() {
  const int points = play("counting", 0, SIGKILL);
  ASSERT_GT(points, 1) << "this scene passes no point";
  for (int at = 1; at <= points; ++at) {
    SCOPED_TRACE("killed at point " + std::to_string(at));
    play((at % 2 == 0 && GetParam().name != std::string("the_short_way") ? kLong : "key-") + std::to_string(at), at,
         SIGKILL);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Deaths, BeingStoppedAtEveryPointHoldsUpAndBreaksNothing) {
  const int points = play("counting", 0, SIGSTOP);
  ASSERT_GT(points, 1);
  // A stop costs the patience of those who meet it: a few points of each scene, another set for each of them.
  for (int at = 1; at <= points; at += 1 + points / 3) {
    SCOPED_TRACE("stopped at point " + std::to_string(at));
    play("key-" + std::to_string(at), at, SIGSTOP);
    if (HasFatalFailure()) return;
  }
}

// One that is stopped inside, whatever it does there.
class StoppedInside : public testing::Test {
 protected:
  Folder folder_;
  std::shared_ptr<Engine> engine_ = join(folder_.path());
  Actor stopped_{[this](const Actor::Line& line) {
    const auto engine = join(folder_.path());
    line.say('r');
    arm(1, SIGSTOP);
    const auto granted = engine->try_claim(request("key"));
    local::fault_hook = nullptr;
    return granted && engine->release({*Key::parse("key"), granted->claim, granted->epoch}) ? 0 : 4;
  }};

  void SetUp() override {
    ASSERT_EQ(stopped_.hear(), 'r');
    ASSERT_TRUE(stopped_.wait_until_stopped());
  }
};

TEST_F(StoppedInside, EndsAWaitAtItsOwnDeadlineByName) {
  const auto refused = engine_->await(request("key"), up_to(std::chrono::milliseconds(20)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::section_busy);
  EXPECT_NE(refused.error().message.find("stopped member pid " + std::to_string(stopped_.pid())), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().remedy, "continue it: kill -CONT " + std::to_string(stopped_.pid()));
}

TEST_F(StoppedInside, IsOutlastedByAWaitThatHasTheTime) {
  int told = 0;
  Wait wait = up_to(seconds(30));
  wait.on_wait = [&](const Observation& seen) {
    if (++told > 1) return;  // of the key itself: the other was first
    EXPECT_NE(seen.why.find("stopped member"), std::string::npos) << seen.why;
    stopped_.kill(SIGCONT);
  };
  const auto granted = engine_->await(request("key"), wait);
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_GE(told, 1);
  EXPECT_TRUE(engine_->release({*Key::parse("key"), granted->claim, granted->epoch}));
}

INSTANTIATE_TEST_SUITE_P(together, Together, testing::ValuesIn(scenes_together()),
                         [](const auto& scene) { return std::string(scene.param.name); });
INSTANTIATE_TEST_SUITE_P(yielding, Yielding, testing::ValuesIn(scenes_of_yielding()),
                         [](const auto& scene) { return std::string(scene.param.name); });
INSTANTIATE_TEST_SUITE_P(scenes, Deaths, testing::ValuesIn(scenes()),
                         [](const auto& scene) { return std::string(scene.param.name); });

}  // namespace
}  // namespace tenure::local_test
