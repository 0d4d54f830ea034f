#include "fakes/fake_keeper.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "base/quiet_thread.h"
#include "fakes/fake_words.h"
#include "fakes/fault_plan.h"

namespace tenure::fakes {

namespace {

constexpr Duration kLongestPause = std::chrono::milliseconds{20};
constexpr Duration kLook = std::chrono::milliseconds{2};

// As the kernel's handle_futex_death: a word that another thread holds is left alone.
bool flag(env::Word& word, std::uint32_t thread_id) {
  std::uint32_t value = word.load();
  while ((value & env::kThreadMask) == thread_id) {
    if (word.compare_exchange_weak(value, (value & env::kSleepersBit) | env::kFlaggedBit)) {
      return (value & env::kSleepersBit) != 0;
    }
  }
  return false;
}

}  // namespace

FakeKeeper::FakeKeeper(std::shared_ptr<FakeWorld> world, ProcessNumber process, env::KeeperJob job,
                       env::Word* life_of_all, std::uint32_t thread_id)
    : world_(std::move(world)),
      process_(process),
      job_(std::move(job)),
      life_of_all_(life_of_all),
      thread_id_(thread_id) {}

FakeKeeper::~FakeKeeper() {
  stop();
}

Result<void> FakeKeeper::start() {
  job_.life->store(thread_id_);
  auto thread = base::quiet_thread([this] { run(); });
  if (!thread) {
    job_.life->store(0);
    return fail(thread.error());
  }
  thread_ = std::move(*thread);
  return {};
}

void FakeKeeper::die() {
  over_ = true;
  if (died_.exchange(true)) return;
  const bool sleepers = flag(*life_of_all_, thread_id_);
  // What the dead process itself sees may be a private copy by now.
  if (job_.life != life_of_all_) flag(*job_.life, thread_id_);
  if (sleepers) wake_sleepers(*life_of_all_, 1);
}

void FakeKeeper::stop() {
  over_ = true;
  if (!thread_.joinable()) return;
  wake_sleepers(*job_.inbox, 1);
  thread_.join();
  if (died_.exchange(true)) return;
  job_.life->store(0);
  wake_sleepers(*job_.life, std::numeric_limits<int>::max());
}

void FakeKeeper::run() {
  Background background;
  while (!over_) {
    const std::uint32_t seen = job_.inbox->load();
    if (!over_ && world_->running(process_) && !world_->stopped(process_)) job_.round();
    wait_for_knock(seen);
  }
}

void FakeKeeper::wait_for_knock(std::uint32_t seen) const {
  const auto pause = std::clamp(job_.every, Duration{std::chrono::milliseconds{1}}, kLongestPause);
  const auto until = std::chrono::steady_clock::now() + pause;
  const std::array<env::Watched, 1> inbox{env::Watched{.word = job_.inbox, .expected = seen}};
  while (!over_ && job_.inbox->load() == seen && std::chrono::steady_clock::now() < until) sleep_on(inbox, kLook);
}

}  // namespace tenure::fakes
