// AgentMux processes and ours contend for one id in a random order of steps, from a seed. An oracle of its own says
// what must be granted and what must not: it knows who was granted what, who gave back, who died, and how long ago the
// holder last gave a sign, and nothing of our rules.
#include <gtest/gtest.h>

#include <random>

#include "files/history.h"
#include "files/party.h"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using Lease = Party::Lease;

constexpr int kParties = 4;
constexpr int kSteps = 4'000;
constexpr Duration kTtl = 15s;

struct Walker {
  std::unique_ptr<Party> party;
  bool agentmux = false;
  std::optional<Lease> lease;  // what it believes
};

class Walk {
 public:
  Walk(std::uint64_t seed, bool ours_by_proof)
      : world_(ours_by_proof ? rules::Expiry::proof : rules::Expiry::age), by_proof_(ours_by_proof), random_(seed) {
    for (int i = 0; i < kParties; ++i) {
      walkers_[i].agentmux = i % 2 == 1;
      be_born(walkers_[i]);
    }
  }

  void run() {
    for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Walker& walker = walkers_[random_() % kParties];
      switch (random_() % 8) {
        case 0:
        case 1:
        case 2:
          claim(walker);
          break;
        case 3:
        case 4:
          renew(walker);
          break;
        case 5:
          release(walker);
          break;
        case 6:
          world_.clock->advance(std::chrono::milliseconds(random_() % (random_() % 4 == 0 ? 30'000 : 5'000)));
          break;
        default:
          if (random_() % 4 == 0) die(walker);
      }
      one_holder();
    }
    EXPECT_GT(history_.turns(), 100U) << "nothing happened";
    EXPECT_GT(takeovers_, 10) << "hardly anybody was displaced";
  }

 private:
  void be_born(Walker& walker) {
    walker.lease.reset();
    std::string number = std::to_string(++born_);
    number.insert(0, 4 - number.size(), '0');
    walker.party = make_party(walker.agentmux, world_, "boot-" + number);
  }
  Walker* holder() {
    for (Walker& walker : walkers_) {
      if (walker.party->boot == history_.holder()) return &walker;
    }
    return nullptr;
  }
  Duration silence() const { return world_.clock->monotonic() - last_sign_; }

  // By whose rule is it judged? AgentMux goes by age, whatever we do.
  enum class May : std::uint8_t { must, must_not, either };
  May may(const Walker& claimant) {
    const std::string now = history_.holder();
    if (now == claimant.party->boot) return May::must;
    const bool by_age = claimant.agentmux || !by_proof_;
    if (now.empty() && left_behind_ && !by_age) {
      // Nobody can prove that it is dead; whoever looks again after its TTL has watched long enough.
      const bool watched = first_try_ && world_.clock->monotonic() - *first_try_ > kTtl;
      if (!first_try_) first_try_ = world_.clock->monotonic();
      return watched ? May::must : May::either;
    }
    if (now.empty()) return May::must;
    if (by_age) return silence() > kTtl ? May::must : May::must_not;
    return May::must_not;  // it lives, and that can be proven
  }

  void claim(Walker& walker) {
    const May allowed = may(walker);
    const std::string before = history_.holder();
    auto lease = walker.party->claim("agent");
    if (!lease) {
      EXPECT_NE(allowed, May::must) << walker.party->boot << " was refused by " << walker.party->refused_by().boot;
      return;
    }
    ASSERT_NE(allowed, May::must_not) << walker.party->boot << " was granted what " << before << " holds, silent for "
                                      << words(silence());
    const bool again = before == walker.party->boot;
    if (!again && !before.empty()) {
      history_.ended(before);
      ++takeovers_;
    }
    history_.granted(walker.party->boot, lease->epoch, again);
    walker.lease = lease;
    last_sign_ = world_.clock->monotonic();
    left_behind_ = false;
  }

  void renew(Walker& walker) {
    if (!walker.lease) return;
    const bool holds = history_.holder() == walker.party->boot;
    EXPECT_EQ(walker.party->renew(*walker.lease), holds) << walker.party->boot;
    if (holds) last_sign_ = world_.clock->monotonic();
    if (!holds) walker.lease.reset();
  }

  void release(Walker& walker) {
    if (!walker.lease) return;
    const bool holds = history_.holder() == walker.party->boot;
    EXPECT_EQ(walker.party->release(*walker.lease), holds) << walker.party->boot;
    if (holds) history_.ended(walker.party->boot);
    walker.lease.reset();
  }

  void die(Walker& walker) {
    world_.world->kill(walker.party->number);
    if (history_.holder() == walker.party->boot) {
      history_.ended(walker.party->boot);
      left_behind_ = walker.agentmux;
      first_try_.reset();
    }
    be_born(walker);
  }

  // Each asks for itself, and exactly the one of the account may say yes.
  void one_holder() {
    for (Walker& walker : walkers_) {
      if (!walker.lease) continue;
      EXPECT_EQ(walker.party->verify(*walker.lease), walker.party->boot == history_.holder()) << walker.party->boot;
    }
  }

  FilesWorld world_;
  const bool by_proof_;
  std::mt19937_64 random_;
  std::array<Walker, kParties> walkers_;
  History history_;
  MonotonicTime last_sign_;
  // A dead AgentMux's record lies there: by proof it must be watched for its TTL first.
  bool left_behind_ = false;
  std::optional<MonotonicTime> first_try_;  // of ours, since then
  int takeovers_ = 0;
  int born_ = 0;
};

class Interleaving : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(seeds, Interleaving, ::testing::Range(std::uint64_t{1}, std::uint64_t{9}));

TEST_P(Interleaving, of_agentmux_and_ours_by_age) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Walk(GetParam(), false).run();
}

TEST_P(Interleaving, of_agentmux_and_ours_by_proof) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Walk(GetParam(), true).run();
}

}  // namespace
}  // namespace tenure::tests
