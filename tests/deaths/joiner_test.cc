// Who takes over the number of a dead member clears up after it before it is a member itself: it is stopped there, and
// it dies there, at every named point.
#include <gtest/gtest.h>
#include <signal.h>

#include "deaths/actors.h"
#include "engine/local/check.h"
#include "engine/local/fault_point.h"

namespace tenure::local_test {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kMembers = 2;  // so that whoever comes third needs the number of a dead one

int passed_points = 0;
int stop_at = 0;
void stop_there(const char* /*point*/) {
  if (++passed_points == stop_at) raise(SIGSTOP);
}

class Joiner : public testing::Test {
 protected:
  Folder folder_;
  std::shared_ptr<Engine> engine_ = join(folder_.path(), kMembers);
  const Key key_ = *Key::parse("of the dead");

  // Dies with the key in hand, and with a member number.
  void leave_a_dead_holder() {
    Actor victim([&](const Actor::Line& line) {
      const auto engine = join(folder_.path(), kMembers);
      line.say(engine->try_claim({.key = key_}) ? 'h' : 'x');
      (void)line.hear();
      return 0;
    });
    ASSERT_EQ(victim.hear(), 'h');
    victim.kill(SIGKILL);
    EXPECT_EQ(victim.wait(), 128 + SIGKILL);
  }

  // Joins in its place, and stops at that point; 0: it is not stopped, and says how many there are.
  int joining(const Actor::Line& line, int at) {
    passed_points = 0;
    stop_at = at;
    local::fault_hook = stop_there;
    const auto engine = join(folder_.path(), kMembers);
    local::fault_hook = nullptr;
    line.say(static_cast<char>(passed_points));
    (void)line.hear();
    return 0;
  }

  void expect_a_whole_table() {
    for (const std::string& fault : local::faults_in(local::core_of(*engine_))) ADD_FAILURE() << fault;
  }

  void expect_the_key_to_be_had() {
    auto granted = engine_->await({.key = key_}, Wait{.at_most = seconds(20)});
    ASSERT_TRUE(granted) << granted.error().message;
    auto released = engine_->release({key_, granted->claim, granted->epoch});
    EXPECT_TRUE(released && released->released);
    expect_a_whole_table();
  }
};

TEST_F(Joiner, IsNotBrokenInUponWhileItClearsUp) {
  leave_a_dead_holder();
  int points = 0;
  {
    Actor counting([&](const Actor::Line& line) { return joining(line, 0); });
    points = static_cast<unsigned char>(counting.hear());
    counting.say('.');
    EXPECT_EQ(counting.wait(), 0);
  }
  ASSERT_GT(points, 2) << "it cleared up nothing";
  expect_the_key_to_be_had();

  for (int at = 1; at <= points; ++at) {
    SCOPED_TRACE("stopped at point " + std::to_string(at));
    leave_a_dead_holder();
    Actor joiner([&](const Actor::Line& line) { return joining(line, at); });
    ASSERT_TRUE(joiner.wait_until_stopped());
    auto claimed = engine_->try_claim({.key = key_});
    if (claimed) {
      // It was outside of the section.
      EXPECT_TRUE(engine_->release({key_, claimed->claim, claimed->epoch}));
    } else {
      EXPECT_TRUE(claimed.error().code == Code::section_busy || claimed.error().code == Code::held)
          << claimed.error().message;
    }
    joiner.kill(SIGCONT);
    const int passed = static_cast<unsigned char>(joiner.hear());
    if (!claimed) {
      EXPECT_EQ(passed, points) << "others were inside with it";
    }
    joiner.say('.');
    EXPECT_EQ(joiner.wait(), 0);
    expect_the_key_to_be_had();
    if (HasFailure()) return;
  }
}

TEST_F(Joiner, MayDieWhileItClearsUp) {
  for (int at = 1; at <= 3; ++at) {
    SCOPED_TRACE("killed at point " + std::to_string(at));
    leave_a_dead_holder();
    Actor joiner([&](const Actor::Line& line) { return joining(line, at); });
    ASSERT_TRUE(joiner.wait_until_stopped());
    joiner.kill(SIGKILL);
    EXPECT_EQ(joiner.wait(), 128 + SIGKILL);
    // The next one comes to the same number, under the same generation.
    Actor next([&](const Actor::Line& line) { return joining(line, 0); });
    (void)next.hear();
    expect_the_key_to_be_had();
    next.say('.');
    EXPECT_EQ(next.wait(), 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::local_test
