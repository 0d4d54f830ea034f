#include "engine/files/store.h"

#include <algorithm>

#include "base/limits.h"

namespace tenure::files {
namespace {

// How long the folder may be away from its path before its leases are lost: a purge that finds holders puts it back at
// once.
constexpr Duration kAwayGrace = std::chrono::seconds(2);

}  // namespace

Store::Store(std::shared_ptr<env::Directory> directory, env::Environment environment, FilesOptions options,
             Traits traits)
    : directory_(std::move(directory)),
      environment_(std::move(environment)),
      options_(options),
      traits_(std::move(traits)),
      viewer_(*directory_, environment_, options_) {}

Result<void> Store::check_process() const {
  if (!environment_.processes->forked()) return {};
  return fail(Code::wrong_process, "this space was opened before a fork, by the parent process",
              "open the space in this process");
}

guarding::Place Store::place() const {
  return {directory_->path(), environment_.processes->self().identity};
}

Result<void> Store::check_change(const Key& key) const {
  if (auto own = check_process(); !own || !guarding::inside_any()) return own;
  return guarding::check_outside(place(), key);
}

Result<void> Store::check_place(const ClaimRef& claim) {
  auto in_place = directory_->in_place();
  if (!in_place) return fail(in_place.error());
  {
    std::lock_guard lock(mutex_);
    if (*in_place) {
      away_since_.reset();
      return {};
    }
    const MonotonicTime now = environment_.clock->monotonic();
    if (!away_since_) away_since_ = now;
    if (now - *away_since_ < kAwayGrace) {
      return fail(Code::unreachable, directory_->path() + " does not lead to the folder of this lease at the moment");
    }
  }
  drop_held(claim);
  return fail(Code::lost, claim.key.text() + " is lost: its folder " + directory_->path() + " was moved or replaced",
              "put the folder back, or open the space where it lies now");
}

std::optional<Held> Store::held(const ClaimRef& claim) {
  std::lock_guard lock(mutex_);
  const auto found = held_.find(claim.key);
  if (found == held_.end() || found->second.claim != claim.claim) return std::nullopt;
  return found->second;
}

void Store::keep_held(const Key& key, Held held) {
  std::lock_guard lock(mutex_);
  held_.insert_or_assign(key, std::move(held));
}

void Store::drop_held(const ClaimRef& claim) {
  Held dropped;  // destroyed after the mutex is free: it makes system calls
  std::lock_guard lock(mutex_);
  const auto found = held_.find(claim.key);
  if (found == held_.end() || found->second.claim != claim.claim) return;
  dropped = std::move(found->second);
  held_.erase(found);
}

std::optional<Key> Store::key_of(const std::string& stem) {
  if (auto plain = key_of_stem(stem)) return plain;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, held] : held_) {
      if (file_names(key).stem == stem) return key;
    }
  }
  auto content = directory_->read(stem + ".lease.json", kMaxRecordBytes);
  if (!content || !*content) return std::nullopt;
  auto record = decode_lease_record((*content)->bytes);
  if (!record) return std::nullopt;
  auto key = Key::parse(record->instance_id);
  if (!key || file_names(*key).stem != stem) return std::nullopt;
  return *key;
}

Result<Observation> Store::holder(const Key& key) {
  const FileNames names = file_names(key);
  auto look = viewer_.look(key, names);
  if (!look) return fail(look.error());
  if (look->record) return viewer_.observe(*look);
  const auto glance = glance_at_counters(names);
  // Who may see the records alone is shown them.
  if (!glance && glance.error().code == Code::not_permitted) return viewer_.observe(*look);
  if (!glance) return fail(glance.error());
  if (look->damage.empty()) {
    auto closer = look_inside(*glance, key, names);
    if (!closer) return fail(closer.error());
    // Without the lock a release and the next grant can fall between the reads: what counts is what stood still.
    const auto again = glance_at_counters(names);
    const bool stood_still = again && again->note == glance->note && again->counter == glance->counter;
    if (!closer->missing || stood_still) look = std::move(closer);
  }
  Observation seen = viewer_.observe(*look);
  if (glance->counter.reading == rules::EpochSource::Reading::value) seen.epoch = glance->counter.epoch;
  return seen;
}

namespace {

Observation unseen(const Key& key, const std::string& why, const std::string& note) {
  Observation seen(key);
  seen.state = State::damaged;
  seen.verdict = {Liveness::unknown, "the record cannot be read"};
  seen.why = why;
  seen.note = note;
  return seen;
}

}  // namespace

Result<std::vector<Observation>> Store::list(const std::string& prefix) {
  auto names = directory_->list(limits::kNamesInFolder);
  if (!names) return fail(names.error());
  std::vector<Observation> found;
  for (const std::string& name : *names) {
    const auto stem = stem_of_record(name);
    if (!stem) continue;
    auto key = key_of(*stem);
    // A record whose key cannot be read is shown under the name of its file.
    if (!key) {
      auto shown = Key::parse(*stem);
      if (!shown || !shown->text().starts_with(prefix)) continue;
      found.push_back(unseen(*shown, "its key cannot be read", directory_->path() + "/" + name));
      continue;
    }
    if (!key->text().starts_with(prefix)) continue;
    auto seen = holder(*key);
    // One that is closed to us hides no other.
    if (!seen && seen.error().code == Code::not_permitted)
      seen = unseen(*key, "it may not be read", seen.error().message);
    if (!seen) return fail(seen.error());
    if (seen->state != State::free) found.push_back(std::move(*seen));
  }
  std::sort(found.begin(), found.end(), [](const Observation& a, const Observation& b) { return a.key < b.key; });
  return found;
}

}  // namespace tenure::files
