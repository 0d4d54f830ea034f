#include "engine/files/sightings.h"

#include <algorithm>
#include <utility>

#include "model/side_files.h"

namespace tenure::files {
namespace {

constexpr std::size_t kMaxRemembered = 4096;
constexpr std::size_t kMaxSeenBytes = 16 * 1024;

std::vector<Sighting> read_kept(env::Directory& directory, const std::string& name) {
  auto content = directory.read(name, kMaxSeenBytes);
  if (!content || !*content) return {};
  auto decoded = decode_sightings((*content)->bytes);
  return decoded ? std::move(*decoded) : std::vector<Sighting>{};
}

}  // namespace

Sightings::Sightings(env::Directory& directory, const env::Environment& environment)
    : directory_(directory),
      clock_(*environment.clock),
      observer_(environment.processes->self().identity.boot_id + "/" +
                std::to_string(environment.processes->self().identity.time_namespace)) {}

std::optional<MonotonicTime> Sightings::kept(const FileNames& names, const std::string& digest) {
  const MonotonicTime now = clock_.monotonic();
  for (const Sighting& each : read_kept(directory_, names.seen)) {
    // A stamp of the future was not made on this clock, whatever it says.
    if (each.observer == observer_ && each.digest == digest && each.first_seen <= now) return each.first_seen;
  }
  return std::nullopt;
}

std::optional<MonotonicTime> Sightings::first_seen(const FileNames& names, const std::string& digest) {
  {
    std::lock_guard lock(mutex_);
    const auto found = seen_.find(names.stem + "/" + digest);
    if (found != seen_.end()) return found->second.first;
  }
  return kept(names, digest);
}

bool Sightings::remember(const FileNames& names, const std::string& digest) {
  const std::string id = names.stem + "/" + digest;
  {
    std::lock_guard lock(mutex_);
    const auto found = seen_.find(id);
    if (found != seen_.end()) return !found->second.kept;
  }
  const auto before = kept(names, digest);
  std::lock_guard lock(mutex_);
  // What is forgotten here is still beside the lease.
  if (seen_.size() >= kMaxRemembered) seen_.clear();
  seen_.insert_or_assign(id, Seen{digest, before.value_or(clock_.monotonic()), before.has_value()});
  return !before;
}

void Sightings::keep(const FileNames& names, const std::vector<std::string>& digests) {
  auto all = read_kept(directory_, names.seen);
  std::erase_if(all, [&](const Sighting& each) { return each.observer == observer_; });
  {
    std::lock_guard lock(mutex_);
    for (const std::string& digest : digests) {
      const auto found = seen_.find(names.stem + "/" + digest);
      if (found != seen_.end()) all.push_back({observer_, digest, found->second.first});
    }
  }
  if (all.size() > kMaxSightings) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kMaxSightings));
  if (!directory_.replace(names.seen, names.temporary, encode(all), false)) return;
  std::lock_guard lock(mutex_);
  for (const std::string& digest : digests) {
    const auto found = seen_.find(names.stem + "/" + digest);
    if (found != seen_.end()) found->second.kept = true;
  }
}

void Sightings::forget(const FileNames& names) {
  {
    std::lock_guard lock(mutex_);
    std::erase_if(seen_, [&](const auto& each) { return each.first.starts_with(names.stem + "/"); });
  }
  (void)directory_.remove(names.seen);
}

}  // namespace tenure::files
