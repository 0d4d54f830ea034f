#include "lease/keeper.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "base/quiet_thread.h"
#include "lease/lease_state.h"

namespace tenure::detail {
namespace {

// A look at every lease even when nothing was reported, for engines whose notices can be missed.
constexpr Duration kLookAnyway = std::chrono::seconds(5);

}  // namespace

// Owned by the Keeper and by its thread, so that either may go first.
struct Keeper::Shared {
  Shared(std::shared_ptr<Engine> an_engine, std::shared_ptr<const env::Clock> a_clock)
      : engine(std::move(an_engine)), clock(std::move(a_clock)) {}

  struct Kept {
    std::weak_ptr<LeaseState> lease;
    const LeaseState* address;
    Key key;
    MonotonicTime next_beat;
  };

  Duration interval() const { return engine->traits().heartbeat.value_or(kLookAnyway); }
  Duration until_next_beat() const;
  std::vector<std::shared_ptr<LeaseState>> due(const Changes::Seen& seen, bool beats);
  void drop(const LeaseState* lease);
  void round(Changes& changes);
  void run(std::unique_ptr<Changes> changes);

  const std::shared_ptr<Engine> engine;
  const std::shared_ptr<const env::Clock> clock;
  std::optional<Stop> stop;
  mutable std::mutex mutex;
  std::vector<Kept> kept;
};

Duration Keeper::Shared::until_next_beat() const {
  std::lock_guard lock(mutex);
  Duration left = kLookAnyway;
  const MonotonicTime now = clock->monotonic();
  for (const Kept& each : kept) left = std::min(left, each.next_beat - now);
  return std::max(left, Duration{0});
}

// The leases that must be looked at: those whose beat is due, or those whose keys were reported.
std::vector<std::shared_ptr<LeaseState>> Keeper::Shared::due(const Changes::Seen& seen, bool beats) {
  std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<LeaseState>> found;
  const MonotonicTime now = clock->monotonic();
  std::erase_if(kept, [](const Kept& each) { return each.lease.expired(); });
  for (Kept& each : kept) {
    const bool reported = seen.everything || std::find(seen.keys.begin(), seen.keys.end(), each.key) != seen.keys.end();
    const bool beat = each.next_beat <= now;
    if (beats ? !beat : !reported) continue;
    if (beats) each.next_beat = now + interval();
    if (auto lease = each.lease.lock()) found.push_back(std::move(lease));
  }
  return found;
}

void Keeper::Shared::drop(const LeaseState* lease) {
  std::lock_guard lock(mutex);
  std::erase_if(kept, [lease](const Kept& each) { return each.address == lease; });
}

void Keeper::Shared::round(Changes& changes) {
  auto seen = changes.wait(until_next_beat(), &*stop);
  if (stop->requested()) return;
  Changes::Seen what = seen.value_or(Changes::Seen{{}, true});
  for (const auto& lease : due(what, false)) {
    if (!lease->check()) drop(lease.get());
  }
  for (const auto& lease : due({}, true)) {
    const bool goes_on = engine->traits().heartbeat ? lease->beat() : lease->check();
    if (!goes_on) drop(lease.get());
  }
}

void Keeper::Shared::run(std::unique_ptr<Changes> changes) {
  // What happened between the first grant and the start of the watch.
  for (const auto& lease : due({{}, true}, false)) {
    if (!lease->check()) drop(lease.get());
  }
  while (!stop->requested()) round(*changes);
}

Keeper::Keeper(std::shared_ptr<Engine> engine, std::shared_ptr<const env::Clock> clock)
    : shared_(std::make_shared<Shared>(std::move(engine), std::move(clock))) {}

Keeper::~Keeper() {
  if (!thread_.joinable()) return;
  if (!mark_.same()) {
    // A forked child has no such thread: the object that names it must not be joined, and cannot be destroyed unjoined.
    new std::thread(std::move(thread_));
    return;
  }
  shared_->stop->request();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

Result<void> Keeper::start() {
  auto stop = Stop::create();
  if (!stop) return fail(stop.error());
  auto changes = shared_->engine->changes();
  if (!changes) return fail(changes.error());
  shared_->stop.emplace(std::move(*stop));
  auto thread =
      base::quiet_thread([shared = shared_, moved = std::make_shared<std::unique_ptr<Changes>>(std::move(*changes))] {
        shared->run(std::move(*moved));
      });
  if (!thread) return fail(thread.error());
  thread_ = std::move(*thread);
  return {};
}

Result<void> Keeper::add(const std::shared_ptr<LeaseState>& lease) {
  std::lock_guard lock(shared_->mutex);
  if (!thread_.joinable()) {
    if (auto started = start(); !started) return started;
  }
  shared_->kept.push_back({lease, lease.get(), lease->grant().key, shared_->clock->monotonic() + shared_->interval()});
  return {};
}

void Keeper::remove(const LeaseState* lease) {
  shared_->drop(lease);
}

}  // namespace tenure::detail
