// The next epoch of a key: above every one that was ever granted for it, or none at all.
#include <algorithm>
#include <array>

#include "rules/ownership.h"

namespace tenure::rules {
namespace {

using Reading = EpochSource::Reading;

// A wall clock that shows less was never set.
constexpr std::int64_t kYear2020Seconds = 1'577'836'800;

// What a source is worth. A number past the limit was never granted. Nobody writes a counter of 0, so where the key was
// used before it is damage; elsewhere 0 says that there is no number.
EpochSource weigh(EpochSource source, Reading zero) {
  if (source.reading != Reading::value) return {source.reading, Epoch{}};
  if (!source.epoch.credible()) return {Reading::unreadable, Epoch{}};
  if (source.epoch.none()) return {zero, Epoch{}};
  return source;
}

struct Weighed {
  bool counter_readable = false;
  bool any_readable = false;
  bool any_damaged = false;
  std::uint64_t highest = 0;
};

Weighed weigh_all(const EpochSources& sources) {
  const EpochSource counter = weigh(sources.counter, sources.first_use ? Reading::missing : Reading::unreadable);
  const std::array<EpochSource, 3> all{counter, weigh(sources.note, Reading::missing),
                                       weigh(sources.record, Reading::missing)};
  Weighed weighed;
  weighed.counter_readable = counter.reading == Reading::value;
  for (const EpochSource& source : all) {
    weighed.any_readable |= source.reading == Reading::value;
    weighed.any_damaged |= source.reading == Reading::unreadable;
    weighed.highest = std::max(weighed.highest, source.epoch.value());
  }
  return weighed;
}

Result<NextEpoch> bounded(std::uint64_t value, std::string note) {
  if (value < Epoch::kLimit) return NextEpoch{Epoch{value}, std::move(note)};
  return fail(Code::epoch_exhausted, "the next epoch would be " + std::to_string(value) + ", and epochs end below " +
                                         std::to_string(Epoch::kLimit));
}

std::int64_t seconds_of(WallTime now) {
  return std::chrono::duration_cast<std::chrono::seconds>(now.since_origin).count();
}

// An epoch by the wall clock: 0 where the clock was never set.
std::uint64_t clock_epoch(WallTime now) {
  if (seconds_of(now) < kYear2020Seconds) return 0;
  // To the microsecond: what is lost and repaired twice within one second must not begin twice at the same epoch.
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now.since_origin).count());
}

Result<NextEpoch> from_clock(WallTime now) {
  const std::uint64_t epoch = clock_epoch(now);
  if (epoch == 0) {
    return fail(Code::epoch_unreadable,
                "the epoch counter of this key is gone, and the wall clock (" + iso8601(now) +
                    ") was never set, so no epoch can be given that is surely higher",
                "set the clock of this machine and claim again");
  }
  return bounded(epoch, "the epoch counter was gone; it goes on from the clock at " + std::to_string(epoch));
}

Result<NextEpoch> from_copy(const EpochSources& sources, std::uint64_t highest) {
  const std::uint64_t next = highest + kRepairJump;
  const std::string was = sources.counter.reading == Reading::missing ? "gone" : "damaged";
  return bounded(next, "the epoch counter was " + was + "; it goes on at " + std::to_string(next) + ", well above " +
                           std::to_string(highest) + " in its copy");
}

}  // namespace

Result<NextEpoch> next_epoch(const EpochSources& sources) {
  const Weighed weighed = weigh_all(sources);
  if (weighed.counter_readable) return bounded(weighed.highest + 1, "");
  if (weighed.any_readable) return from_copy(sources, weighed.highest);
  if (weighed.any_damaged) {
    return fail(Code::epoch_unreadable, "the epoch counter of this key is damaged and no copy of it can be read");
  }
  if (sources.first_use) return NextEpoch{Epoch{1}, ""};
  return from_clock(sources.now);
}

Result<NextEpoch> repaired_epoch(const EpochSources& sources) {
  const Weighed weighed = weigh_all(sources);
  if (!weighed.any_readable && clock_epoch(sources.now) == 0) return from_clock(sources.now);
  const std::uint64_t step = weighed.any_readable && !weighed.counter_readable ? kRepairJump : 1;
  const std::uint64_t next = std::max(weighed.highest + step, clock_epoch(sources.now) + 1);
  return bounded(next, "the epoch was repaired by force; it goes on at " + std::to_string(next));
}

}  // namespace tenure::rules
