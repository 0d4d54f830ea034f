#include "cli/top_gatherer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/quiet_thread.h"
#include "compose/real_environment.h"
#include "engine/engine.h"

namespace tenure::cli {
namespace {

constexpr Duration kOnScreenEvery = std::chrono::seconds{1};
// Deaths leave no trace where nobody waits: so all is looked at now and then, the seldomer the longer it takes.
constexpr Duration kAllAtLeastEvery = std::chrono::seconds{5};
constexpr int kShare = 20;  // at most one part in so many of the time is spent looking at everything
// Between two looks: what happens meanwhile is seen at once.
constexpr Duration kShortestRest = std::chrono::milliseconds{20};
constexpr Duration kLongestRest = std::chrono::seconds{1};
// What nobody has taken, while the screen is paused. Beyond it all is looked at anew.
constexpr std::size_t kMostUntaken = 20'000;

}  // namespace

Result<std::unique_ptr<TopGatherer>> TopGatherer::start(const Space& space, std::string prefix) {
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  Descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell.open()) return fail(system_error(errno, "cannot make a descriptor to be woken by"));
  std::unique_ptr<TopGatherer> out(new TopGatherer(space, std::move(prefix), std::move(*stop), std::move(bell)));
  auto thread = base::quiet_thread([&gatherer = *out] { gatherer.gather(); });
  if (!thread) return fail(thread.error());
  out->thread_ = std::move(*thread);
  return out;
}

TopGatherer::~TopGatherer() {
  stop_.request();
  if (thread_.joinable()) thread_.join();
}

TopNews TopGatherer::take() {
  const std::lock_guard lock(mutex_);
  std::uint64_t rung = 0;
  (void)!::read(bell_.get(), &rung, sizeof rung);
  TopNews news{std::exchange(all_, std::nullopt), {}, fault_};
  for (auto& [key, seen] : changed_) news.changed.push_back(std::move(seen));
  changed_.clear();
  return news;
}

void TopGatherer::attend(std::vector<Key> keys) {
  const std::lock_guard lock(mutex_);
  attended_ = std::move(keys);
}

std::vector<Key> TopGatherer::attended() const {
  const std::lock_guard lock(mutex_);
  return attended_;
}

void TopGatherer::publish(TopNews news) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(news.fault);
  if (news.all) {
    all_ = std::move(news.all);
    changed_.clear();
  }
  for (Observation& each : news.changed) {
    Key key = each.key;
    changed_.insert_or_assign(std::move(key), std::move(each));
  }
  if (changed_.size() > kMostUntaken) {
    changed_.clear();
    want_all_ = true;
  }
  const std::uint64_t ring = 1;
  (void)!::write(bell_.get(), &ring, sizeof ring);
}

// A space may go, and come again.
void TopGatherer::gather() {
  while (!stop_.requested()) {
    std::string fault;
    gather_until_fault(fault);
    if (!fault.empty()) publish({std::nullopt, {}, fault});
    want_all_ = true;
    if (!fault.empty()) rest(kOnScreenEvery);
  }
}

void TopGatherer::gather_until_fault(std::string& fault) {
  const auto clock = compose::real_clock();
  auto changes = space_.engine().changes();
  if (!changes) {
    fault = changes.error().message;
    return;
  }
  MonotonicTime tick = clock->monotonic();
  MonotonicTime all_allowed = tick;
  MonotonicTime all_due = tick;
  while (!stop_.requested()) {
    const MonotonicTime begun = clock->monotonic();
    Result<void> looked;
    if (begun >= (want_all_ ? all_allowed : all_due)) {
      looked = look_at_all();
      const MonotonicTime now = clock->monotonic();
      all_allowed = now + (now - begun) * kShare;
      all_due = std::max(now + kAllAtLeastEvery, all_allowed);
    } else if (begun >= tick) {
      looked = look_at(attended());
      tick = begun + kOnScreenEvery;
    }
    if (!looked) {
      fault = looked.error().message;
      return;
    }
    rest(clock->monotonic() - begun);
    const MonotonicTime next = std::min(tick, want_all_ ? all_allowed : all_due);
    auto seen = (*changes)->wait(std::max(next - clock->monotonic(), Duration{0}), &stop_);
    if (!seen) {
      fault = seen.error().message;
      return;
    }
    want_all_ |= seen->everything;
    if (auto news = look_at(seen->keys); !news) {
      fault = news.error().message;
      return;
    }
  }
}

Result<void> TopGatherer::look_at_all() {
  want_all_ = false;
  auto all = space_.list(prefix_);
  if (!all) return fail(all.error());
  publish({std::move(*all), {}, {}});
  return {};
}

Result<void> TopGatherer::look_at(const std::vector<Key>& keys) {
  TopNews news;
  for (const Key& key : keys) {
    if (!key.text().starts_with(prefix_)) continue;
    auto seen = space_.holder(key);
    if (!seen) return fail(seen.error());
    news.changed.push_back(std::move(*seen));
  }
  if (!news.changed.empty()) publish(std::move(news));
  return {};
}

// So that a space in which much happens, or a slow one, is not looked at all the time.
void TopGatherer::rest(Duration busy_for) const {
  const Duration span = std::clamp(busy_for, kShortestRest, kLongestRest);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
  ::pollfd polled{stop_.descriptor(), POLLIN, 0};
  ::poll(&polled, 1, static_cast<int>(milliseconds));
}

}  // namespace tenure::cli
