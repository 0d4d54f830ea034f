// What a process may do to itself while it holds or waits, and what becomes of its keys.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "deaths/lives.h"
#include "engine/local/fault_point.h"

namespace tenure::local_test {
namespace {
TEST_F(Lives, ClosingEveryDescriptorLosesNothing) {
  const auto child = holder("k", [](Engine& engine, const Grant& grant, const Actor::Line& line) {
    // Every descriptor but the two of the line.
    for (int fd = 3; fd < 256; ++fd) {
      if (fd != line.in() && fd != line.out()) ::close(fd);
    }
    line.say(engine.verify({*Key::parse("k"), grant.claim, grant.epoch}) ? 'y' : 'n');
    (void)line.hear();
    line.say(engine.release({*Key::parse("k"), grant.claim, grant.epoch}) ? 'y' : 'n');
    return 0;
  });
  EXPECT_EQ(child->hear(), 'y');
  EXPECT_TRUE(is_held("k"));
  child->say('g');
  EXPECT_EQ(child->hear(), 'y');
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(Lives, AForkedChildKeepsNothingOfADeadHolder) {
  for (const bool runs_another : {false, true}) {
    const std::string key = runs_another ? "exec" : "fork";
    const auto child = holder(key, [=](Engine&, const Grant&, const Actor::Line& line) {
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        if (runs_another) execl("/bin/sleep", "sleep", "4", nullptr);
        (void)line.hear();
        ::_exit(0);
      }
      line.say('f');
      ::kill(getpid(), SIGKILL);
      return 0;
    });
    EXPECT_EQ(child->hear(), 'f');
    EXPECT_TRUE(comes_free(key, seconds(2))) << "while the grandchild lives";
  }
}

TEST_F(Lives, AnExecEndsTheLease) {
  const auto child = holder("k", [](Engine&, const Grant&, const Actor::Line&) {
    execl("/bin/sleep", "sleep", "30", nullptr);
    return 6;
  });
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(Lives, AThreadThatEndsWhileHoldingLeavesTheLeaseToItsProcess) {
  const std::string path = folder_.path();
  Actor child([=](const Actor::Line& line) {
    const auto engine = join(path);
    std::thread([&] { (void)engine->try_claim(request("k")); }).join();
    line.say('h');
    (void)line.hear();
    return 0;
  });
  EXPECT_EQ(child.hear(), 'h');
  EXPECT_TRUE(is_held("k"));
  child.kill(SIGKILL);
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(Lives, AMainThreadThatEndsIsNotTheProcess) {
  const auto child = holder("k", [](Engine&, const Grant&, const Actor::Line& line) {
    std::thread([line] {
      (void)line.hear();
      ::_exit(0);
    }).detach();
    line.say('m');
    syscall(SYS_exit, 0);
    return 0;
  });
  EXPECT_EQ(child->hear(), 'm');
  EXPECT_TRUE(is_held("k"));
  child->say('e');
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(Lives, AStoppedHolderIsAlive) {
  const auto child = holder("k", until_told);
  child->kill(SIGSTOP);
  ASSERT_TRUE(child->wait_until_stopped());
  EXPECT_TRUE(is_held("k"));
  EXPECT_FALSE(comes_free("k", milliseconds(300)));
  child->kill(SIGKILL);
  EXPECT_TRUE(comes_free("k", seconds(5)));
}

TEST_F(Lives, AStoppedFirstInLineIsPassedOverAndKeepsItsPlace) {
  auto held = engine_->try_claim(request("k", "test", "holder"));
  ASSERT_TRUE(held);
  const auto first = waiter("k");
  until_in_line("k", "1");
  first->kill(SIGSTOP);
  ASSERT_TRUE(first->wait_until_stopped());
  auto second = waits("k", "second");
  until_in_line("k", "2");
  release("k", *held);
  auto granted = second.get();
  ASSERT_TRUE(granted) << granted.error().message;
  auto third = waits("k", "third");
  until_in_line("k", "2");
  first->kill(SIGCONT);
  until_it_stirs("k");
  release("k", *granted);
  EXPECT_EQ(first->hear(), 'g') << "it kept its place before the third";
  EXPECT_EQ(third.wait_for(milliseconds(0)), std::future_status::timeout);
  first->say('r');
  auto last = third.get();
  ASSERT_TRUE(last);
  release("k", *last);
}

TEST_F(Lives, TenDeadInARowAreNoObstacle) {
  auto held = engine_->try_claim(request("k", "test", "holder"));
  ASSERT_TRUE(held);
  std::vector<std::unique_ptr<Actor>> dead;
  for (int i = 1; i <= 10; ++i) {
    dead.push_back(waiter("k"));
    until_in_line("k", std::to_string(i));
  }
  auto living = waits("k", "living");
  until_in_line("k", "11");
  for (const auto& each : dead) each->kill(SIGKILL);
  release("k", *held);
  auto granted = living.get();
  ASSERT_TRUE(granted) << granted.error().message;
  release("k", *granted);
  EXPECT_EQ(local::faults_in(local::core_of(*engine_)), std::vector<std::string>{});
}

TEST_F(Lives, TheReleaserIsGoneAndTheHeadIsKilledBeforeItRuns) {
  auto releaser = holder("k", [](Engine& engine, const Grant& grant, const Actor::Line& line) {
    (void)line.hear();
    (void)engine.release({*Key::parse("k"), grant.claim, grant.epoch});
    return 0;
  });
  const auto head = waiter("k");
  until_in_line("k", "1");
  head->kill(SIGSTOP);
  ASSERT_TRUE(head->wait_until_stopped());
  auto next = waits("k", "next");
  until_in_line("k", "2");
  releaser->say('r');
  releaser->wait();
  head->kill(SIGKILL);
  auto granted = next.get();
  ASSERT_TRUE(granted) << granted.error().message;
  release("k", *granted);
}

TEST_F(Lives, TenKeysOfOneDeadMemberGoToTheirWaiters) {
  const std::string path = folder_.path();
  Actor child([=](const Actor::Line& line) {
    const auto engine = join(path);
    for (int i = 0; i < 10; ++i) (void)engine->try_claim(request("key-" + std::to_string(i)));
    line.say('h');
    (void)line.hear();
    return 0;
  });
  EXPECT_EQ(child.hear(), 'h');
  std::vector<std::future<Result<Grant>>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(waits("key-" + std::to_string(i), "waiter"));
  for (int i = 0; i < 10; ++i) until_in_line("key-" + std::to_string(i), "1");
  child.kill(SIGKILL);
  for (auto& each : waiting) EXPECT_TRUE(each.get());
}

// The kernel compares the thread id in a robust mutex with the dying thread's id in its own namespace: a mere waiter
// with the owner's number, killed in another namespace, made a living owner's mutex ownerless.
TEST_F(Lives, AWaiterInAnotherPidNamespaceDiesAndTheOwnerStays) {
  const std::string path = folder_.path();
  const auto owner = holder("k", until_told);
  Actor outer([=](const Actor::Line& line) {
    if (unshare(CLONE_NEWPID) != 0) {
      line.say('s');
      return 0;
    }
    const pid_t inner = fork();
    if (inner == 0) {
      const auto engine = join(path);
      line.say('i');
      (void)engine->await(request("k"), up_to(seconds(30)));
      ::_exit(0);
    }
    (void)line.hear();
    ::kill(inner, SIGKILL);
    waitpid(inner, nullptr, 0);
    line.say('k');
    (void)line.hear();
    return 0;
  });
  if (outer.hear() == 's') GTEST_SKIP() << "no further pid namespace is permitted";
  until_in_line("k", "1");
  outer.say('k');
  EXPECT_EQ(outer.hear(), 'k');
  EXPECT_TRUE(is_held("k"));
  auto next = waits("k", "next");
  EXPECT_EQ(next.wait_for(milliseconds(500)), std::future_status::timeout);
  owner->kill(SIGKILL);
  EXPECT_TRUE(next.get());
}

Engine* engine_of_handler = nullptr;
Code code_in_handler = Code::internal;
void claim_in_handler(int) {
  auto claimed = engine_of_handler->try_claim(request("other", "handler", "part"));
  code_in_handler = claimed ? Code::internal : claimed.error().code;
}

TEST_F(Lives, AClaimInASignalHandlerThatInterruptedOneIsRefusedNotHung) {
  engine_of_handler = engine_.get();
  struct sigaction action{};
  action.sa_handler = claim_in_handler;
  struct sigaction before{};
  sigaction(SIGUSR1, &action, &before);
  local::fault_hook = [](const char* point) {
    if (std::string_view(point) == "slot held") raise(SIGUSR1);
  };
  auto claimed = engine_->try_claim(request("k", "test", "part"));
  local::fault_hook = nullptr;
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(claimed);
  EXPECT_EQ(code_in_handler, Code::section_busy);
}

TEST_F(Lives, TwoSpacesOfOneProcessExcludeEachOther) {
  const auto other = join(folder_.path());
  auto held = engine_->try_claim(request("k", "test", "part"));
  ASSERT_TRUE(held);
  auto refused = other->try_claim(request("k", "test", "part"));
  ASSERT_FALSE(refused);
  release("k", *held);
  EXPECT_TRUE(other->try_claim(request("k", "test", "part")));
}

TEST_F(Lives, ADeletedTableIsALossAndNoOtherIsMadeBesideTheLiving) {
  auto held = engine_->try_claim(request("k", "test", "part"));
  ASSERT_TRUE(held);
  std::promise<void> told;
  bool once = false;
  engine_->on_disturbance([&] {
    if (!std::exchange(once, true)) told.set_value();
  });
  std::filesystem::remove(folder_.path() + "/table");
  EXPECT_EQ(told.get_future().wait_for(seconds(20)), std::future_status::ready);
  engine_->on_disturbance(nullptr);
  auto standing = engine_->verify({*Key::parse("k"), held->claim, held->epoch});
  ASSERT_FALSE(standing);
  EXPECT_EQ(standing.error().code, Code::lost);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/table"));
}

TEST_F(Lives, AHolderThatHangsPastItsTtlIsTakenOver) {
  const std::string path = folder_.path();
  Actor child([=](const Actor::Line& line) {
    const auto engine = join(path);
    ClaimRequest with_ttl = request("k");
    with_ttl.terms.ttl = milliseconds(300);
    line.say(engine->try_claim(with_ttl) ? 'h' : 'x');
    (void)line.hear();
    return 0;
  });
  EXPECT_EQ(child.hear(), 'h');
  child.kill(SIGSTOP);
  ASSERT_TRUE(child.wait_until_stopped());
  auto granted = engine_->await(request("k", "test", "next"), up_to(seconds(10)));
  ASSERT_TRUE(granted) << granted.error().message;
  ASSERT_TRUE(granted->displaced);
  release("k", *granted);
}

TEST_F(Lives, ATicketOutlivesItsPoller) {
  auto held = engine_->try_claim(request("k", "test", "holder"));
  ASSERT_TRUE(held);
  const std::string path = folder_.path();
  Wait poll = up_to(milliseconds(10));
  poll.ticket = "mine";
  poll.grace = seconds(20);
  Actor poller([=](const Actor::Line&) {
    const auto engine = join(path);
    return engine->await(request("k"), poll) ? 1 : 0;
  });
  EXPECT_EQ(poller.wait(), 0);
  auto late = waits("k", "late");
  until_in_line("k", "2");
  release("k", *held);
  Wait again = poll;
  again.at_most = seconds(5);
  auto granted = engine_->await(request("k", "test", "poller"), again);
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_EQ(late.wait_for(milliseconds(0)), std::future_status::timeout);
  release("k", *granted);
  EXPECT_TRUE(late.get());
}

TEST_F(Lives, ATicketThatIsPolledTwiceIsWithTheLaterPoller) {
  auto held = engine_->try_claim(request("k", "test", "holder"));
  ASSERT_TRUE(held);
  Wait poll = up_to(seconds(20));
  poll.ticket = "mine";
  poll.grace = seconds(20);
  const auto polls = [&](const std::string& part) {
    return std::async(std::launch::async,
                      [this, poll, part] { return engine_->await(request("k", "test", part), poll); });
  };
  auto earlier = polls("earlier");
  until_in_line("k", "1");
  auto later = polls("later");
  const auto superseded = earlier.get();
  ASSERT_FALSE(superseded);
  EXPECT_EQ(superseded.error().code, Code::cancelled);
  EXPECT_NE(superseded.error().message.find("the same ticket"), std::string::npos) << superseded.error().message;
  release("k", *held);
  const auto granted = later.get();
  ASSERT_TRUE(granted) << granted.error().message;
  release("k", *granted);
}

// Places change hands while the key does, some in the moment that they are given up: no cell is given back twice.
TEST_F(Lives, ManyPollersOfOneTicketLeaveAWholeTable) {
  std::atomic<int> grants{0};
  std::vector<std::jthread> pollers;
  for (int i = 0; i < 6; ++i) {
    pollers.emplace_back([this, &grants, i] {
      for (int turn = 0; turn < 100; ++turn) {
        Wait poll = up_to(milliseconds((turn + i) % 7));
        poll.ticket = i < 4 ? "one" : "two";
        poll.grace = milliseconds(1 + turn % 4);
        const auto granted = engine_->await(request("k", "test", std::string(40, 'p') + std::to_string(i)), poll);
        if (!granted) continue;
        ++grants;
        EXPECT_TRUE(engine_->verify({*Key::parse("k"), granted->claim, granted->epoch}));
        ::poll(nullptr, 0, turn % 4);  // the others wait, and meet at their ticket
        release("k", *granted);
      }
    });
  }
  pollers.clear();
  EXPECT_GT(grants, 0);
  for (const std::string& fault : local::faults_in(local::core_of(*engine_))) ADD_FAILURE() << fault;
  auto granted = engine_->await(request("k", "test", "afterwards"), up_to(seconds(10)));
  ASSERT_TRUE(granted) << granted.error().message;
  release("k", *granted);
  EXPECT_EQ(local::lost_cells(local::core_of(*engine_)), 0u);
}

}  // namespace
}  // namespace tenure::local_test
