// A claim in epoll, over each engine that a program can open by itself.
#include "tenure/pending_claim.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "compose/each_engine_test.h"
#include "tenure/space.h"

namespace tenure {
namespace {

constexpr int kPatienceMs = 30'000;

class PendingClaims : public EachEngine {
 protected:
  PendingClaim begin(std::function<void(const Observation&)> on_wait = nullptr) {
    auto pending = space_->begin_claim(key_, {.wait = std::nullopt, .on_wait = std::move(on_wait)});
    EXPECT_TRUE(pending) << pending.error().message;
    return std::move(*pending);
  }
  // Returns when it stands in line.
  PendingClaim begin_in_line() {
    auto waits = std::make_shared<std::promise<void>>();
    PendingClaim pending = begin([waits, told = false](const Observation&) mutable {
      if (!std::exchange(told, true)) waits->set_value();
    });
    EXPECT_EQ(waits->get_future().wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready);
    return pending;
  }
  // Whether its descriptor becomes readable in so many milliseconds.
  static bool readable(const PendingClaim& pending, int at_most_ms) {
    const base::Descriptor set(epoll_create1(EPOLL_CLOEXEC));
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    EXPECT_EQ(epoll_ctl(set.get(), EPOLL_CTL_ADD, pending.fd(), &wanted), 0);
    epoll_event seen{};
    return epoll_wait(set.get(), &seen, 1, at_most_ms) == 1;
  }

  const Key key_ = *Key::parse("k");
};

TEST_P(PendingClaims, IsReadableWhenTheKeyIsOurs) {
  auto held = space_->claim(key_);
  ASSERT_TRUE(held);
  PendingClaim pending = begin_in_line();
  EXPECT_FALSE(pending.ended());
  EXPECT_FALSE(readable(pending, 0));
  ASSERT_TRUE(held->release());
  ASSERT_TRUE(readable(pending, kPatienceMs));
  EXPECT_TRUE(pending.ended());
  auto lease = pending.take();
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_TRUE(lease->verify());
  EXPECT_GT(lease->epoch(), held->epoch());
  EXPECT_TRUE(readable(pending, 0)) << "it stays so";
  EXPECT_EQ(pending.take().error().code, Code::usage);
}

TEST_P(PendingClaims, OfAFreeKeyEndsAtOnce) {
  PendingClaim pending = begin();
  auto lease = pending.take();
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_TRUE(lease->verify());
}

TEST_P(PendingClaims, IsCancelled) {
  auto held = space_->claim(key_);
  ASSERT_TRUE(held);
  PendingClaim pending = begin_in_line();
  pending.cancel();
  ASSERT_TRUE(readable(pending, kPatienceMs));
  EXPECT_EQ(pending.take().error().code, Code::cancelled);
  EXPECT_TRUE(held->verify());
}

TEST_P(PendingClaims, GivesBackWhatNobodyTook) {
  {
    PendingClaim pending = begin();
    ASSERT_TRUE(readable(pending, kPatienceMs));
  }
  EXPECT_TRUE(space_->claim(key_)) << "it was kept";
  auto held = space_->claim(*Key::parse("other"));
  ASSERT_TRUE(held);
  std::optional<PendingClaim> in_line;
  {
    auto pending = space_->begin_claim(*Key::parse("other"), {.wait = std::nullopt});
    ASSERT_TRUE(pending);
    in_line.emplace(std::move(*pending));
  }
  in_line.reset();  // while it waits
  EXPECT_TRUE(held->verify());
}

TEST_P(PendingClaims, ManySitInOneLoop) {
  constexpr int kMany = 12;
  auto held = space_->claim(key_);
  ASSERT_TRUE(held);
  std::vector<PendingClaim> pending;
  const base::Descriptor set(epoll_create1(EPOLL_CLOEXEC));
  for (std::uint32_t i = 0; i < kMany; ++i) {
    pending.push_back(begin_in_line());
    epoll_event wanted{.events = EPOLLIN, .data = {.u32 = i}};
    ASSERT_EQ(epoll_ctl(set.get(), EPOLL_CTL_ADD, pending.back().fd(), &wanted), 0);
  }
  ASSERT_TRUE(held->release());
  std::vector<std::uint32_t> order;
  for (int i = 0; i < kMany; ++i) {
    epoll_event seen{};
    ASSERT_EQ(epoll_wait(set.get(), &seen, 1, kPatienceMs), 1);
    order.push_back(seen.data.u32);
    ASSERT_EQ(epoll_ctl(set.get(), EPOLL_CTL_DEL, pending[seen.data.u32].fd(), nullptr), 0);
    auto lease = pending[seen.data.u32].take();
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_TRUE(lease->release());
  }
  if (space_->traits().first_in_first_out) {
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
}

TEST_P(PendingClaims, IsNotAForkedChilds) {
  auto held = space_->claim(key_);
  ASSERT_TRUE(held);
  {
    PendingClaim pending = begin_in_line();
    const pid_t child = fork();
    if (child == 0) {
      const auto lease = pending.take();
      _exit(!lease && lease.error().code == Code::wrong_process ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    ASSERT_TRUE(held->release());
    EXPECT_TRUE(pending.take());
  }
}

TEST_P(PendingClaims, HasItsOwnWayToStop) {
  auto stop = Stop::create();
  ASSERT_TRUE(stop);
  auto pending = space_->begin_claim(key_, {.stop = &*stop});
  ASSERT_FALSE(pending);
  EXPECT_EQ(pending.error().code, Code::usage);
}

INSTANTIATE_TEST_SUITE_P(engines, PendingClaims, each_engine(), name_of_engine);

}  // namespace
}  // namespace tenure
