// Who takes over the number of a dead member clears up after it before it is a member itself: it is stopped there, and
// it dies there, at every named point.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <string_view>

#include "deaths/actors.h"
#include "engine/local/check.h"
#include "engine/local/fault_point.h"
#include "engine/local/section.h"

namespace tenure::local_test {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kMembers = 2;  // so that whoever comes third needs the number of a dead one

// One letter a point that was passed: i, inside of a section; o, outside.
std::string passed_points;
std::size_t stop_at = 0;
void stop_there(const char* point) {
  const bool inside = local::inside_section && std::string_view(point) != "after unlock";
  passed_points += inside ? 'i' : 'o';
  if (passed_points.size() == stop_at) raise(SIGSTOP);
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

  // Joins in its place, and stops at that point; 0: at none. Says which it passed.
  int joining(const Actor::Line& line, std::size_t at) {
    passed_points.clear();
    stop_at = at;
    local::fault_hook = stop_there;
    const auto engine = join(folder_.path(), kMembers);
    local::fault_hook = nullptr;
    for (const char point : passed_points) line.say(point);
    line.say('.');
    (void)line.hear();
    return 0;
  }

  static std::string points_of(Actor& joiner) {
    std::string points;
    for (char point = joiner.hear(); point == 'i' || point == 'o'; point = joiner.hear()) points += point;
    return points;
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
  std::string points;
  {
    Actor counting([&](const Actor::Line& line) { return joining(line, 0); });
    points = points_of(counting);
    counting.say('.');
    EXPECT_EQ(counting.wait(), 0);
  }
  ASSERT_NE(points.find("ii"), std::string::npos) << "it cleared up nothing: " << points;
  expect_the_key_to_be_had();

  for (std::size_t at = 1; at <= points.size(); ++at) {
    SCOPED_TRACE("stopped at point " + std::to_string(at) + " of " + points);
    leave_a_dead_holder();
    Actor joiner([&](const Actor::Line& line) { return joining(line, at); });
    ASSERT_TRUE(joiner.wait_until_stopped());
    auto claimed = engine_->try_claim({.key = key_});
    const bool inside = points[at - 1] == 'i';
    EXPECT_EQ(claimed.has_value(), !inside);
    if (claimed) {
      EXPECT_TRUE(engine_->release({key_, claimed->claim, claimed->epoch}));
    } else {
      EXPECT_EQ(claimed.error().code, Code::section_busy) << claimed.error().message;
    }
    joiner.kill(SIGCONT);
    (void)points_of(joiner);
    joiner.say('.');
    EXPECT_EQ(joiner.wait(), 0);
    expect_the_key_to_be_had();
    if (HasFailure()) return;
  }
}

TEST_F(Joiner, MayDieWhileItClearsUp) {
  for (std::size_t at = 1; at <= 3; ++at) {
    SCOPED_TRACE("killed at point " + std::to_string(at));
    leave_a_dead_holder();
    Actor joiner([&](const Actor::Line& line) { return joining(line, at); });
    ASSERT_TRUE(joiner.wait_until_stopped());
    joiner.kill(SIGKILL);
    EXPECT_EQ(joiner.wait(), 128 + SIGKILL);
    // The next one comes to the same number, under the same generation.
    Actor next([&](const Actor::Line& line) { return joining(line, 0); });
    (void)points_of(next);
    expect_the_key_to_be_had();
    next.say('.');
    EXPECT_EQ(next.wait(), 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::local_test
