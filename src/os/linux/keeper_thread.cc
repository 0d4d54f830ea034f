#include "os/linux/keeper_thread.h"

#include <pthread.h>

#include <array>
#include <climits>

#include "base/quiet_thread.h"
#include "os/linux/private_descriptors.h"

namespace tenure::os {
namespace {

// How long the starter sleeps at a time while the thread comes up; it is woken when it has.
constexpr Duration kStartLook = std::chrono::seconds{1};
// A keeper that looked more often would be a load.
constexpr Duration kShortestEvery = std::chrono::milliseconds{1};

std::uint32_t value_of(const env::Word* word) {
  return word == nullptr ? 0 : word->load(std::memory_order_acquire);
}

}  // namespace

KeeperThread::KeeperThread(std::shared_ptr<const LocalPlace> place, env::KeeperJob job)
    : place_(std::move(place)), job_(std::move(job)), inbox_seen_(value_of(job_.inbox)) {}

Result<std::unique_ptr<KeeperThread>> KeeperThread::start(std::shared_ptr<const LocalPlace> place, env::KeeperJob job) {
  if (job.inbox == nullptr || !job.round) return fail(Code::internal, "a keeper needs an inbox and something to do");
  std::unique_ptr<KeeperThread> keeper(new KeeperThread(std::move(place), std::move(job)));
  if (auto launched = keeper->launch(); !launched) return fail(launched.error());
  return keeper;
}

Result<void> KeeperThread::launch() {
  auto thread = base::quiet_thread([this] { run(); });
  if (!thread) return fail(thread.error());
  thread_ = std::make_unique<std::thread>(std::move(*thread));
  job_.meanwhile();
  const env::Watched watched{&state_, starting};
  while (state_.load(std::memory_order_acquire) == starting) words_.wait({&watched, 1}, kStartLook);
  if (state_.load(std::memory_order_acquire) == at_work) return {};
  return fail(Code::unsupported, "this system does not tell of the end of a thread by a robust futex");
}

void KeeperThread::run() {
  pthread_setname_np(pthread_self(), "tenure-keeper");
  keep_folder_privately(*place_);
  const bool armed = job_.life == nullptr || flag_.arm(*job_.life);
  state_.store(armed ? at_work : refused, std::memory_order_release);
  words_.wake(state_, INT_MAX);
  if (!armed) return;
  serve();
  if (job_.life == nullptr) return;
  flag_.disarm();
  words_.wake(*job_.life, INT_MAX);
}

void KeeperThread::serve() {
  while (stopping_.load(std::memory_order_acquire) == 0) {
    const std::array<env::Watched, 2> watched{{{job_.inbox, inbox_seen_}, {&stopping_, 0}}};
    const Duration every = job_.pause == nullptr ? job_.every : Duration{job_.pause->load(std::memory_order_acquire)};
    words_.wait(watched, std::max(every, kShortestEvery));
    // Read before the round: a knock during it is for the next one.
    inbox_seen_ = value_of(job_.inbox);
    if (stopping_.load(std::memory_order_acquire) == 0) job_.round();
  }
}

KeeperThread::~KeeperThread() {
  if (!process_.same()) {
    // The object says that it runs, and nothing of it may be asked here: it is left alone.
    static_cast<void>(thread_.release());
    return;
  }
  if (!thread_) return;
  stopping_.store(1, std::memory_order_release);
  words_.wake(stopping_, INT_MAX);
  // Where it cannot sleep on both words it sleeps on this one.
  words_.wake(*job_.inbox, INT_MAX);
  thread_->join();
}

}  // namespace tenure::os
