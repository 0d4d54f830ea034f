// Is it still ours? There is no TTL and no sign of life to write: the holder's life is its sign.
#include "base/limits.h"
#include "engine/receiver/store.h"
#include "model/side_files.h"

namespace tenure::receiver {

Store::Store(std::shared_ptr<env::Directory> folder, env::Environment environment, ReceiverOptions options,
             Traits traits)
    : core_(std::move(folder), std::move(environment), std::move(options)), traits_(std::move(traits)) {}

Result<void> Store::check_process() const {
  if (!core_.environment.processes->forked()) return {};
  return fail(Code::wrong_process,
              "this space was opened by the parent of this process; a forked child has no part in it",
              "open it in this process");
}

Result<void> Store::check_change(const Key& key) const {
  if (auto own = check_process(); !own || !guarding::inside_any()) return own;
  return guarding::check_outside(place(), key);
}

std::optional<Held> Store::held(const ClaimRef& claim) {
  std::lock_guard lock(mutex_);
  if (held_ && held_->claim == claim.claim && held_->epoch == claim.epoch) return held_;
  return std::nullopt;
}

void Store::keep_held(Held held) {
  std::lock_guard lock(mutex_);
  held_ = std::move(held);
}

void Store::drop_held(const ClaimId& claim) {
  std::optional<Held> former;  // let go of outside the lock
  std::lock_guard lock(mutex_);
  if (held_ && held_->claim == claim) former.swap(held_);
}

std::unexpected<Error> Store::lost(const Key& key, Epoch epoch, const Look& look, const std::string& why) {
  Error error{Code::lost, key.text() + " is lost: ", "", nullptr};
  auto content = core_.root->read(kRevoked, limits::kRecordBytes);
  auto revocation =
      content && *content ? decode_revocation((*content)->bytes) : Result<Revocation>(fail(Code::damaged, ""));
  if (revocation && revocation->epoch == epoch) {
    error.message += "revoked by " + revocation->by_user + " (pid " + std::to_string(revocation->by_pid) + " on " +
                     revocation->by_host + "): " + revocation->reason;
  } else if (!why.empty()) {
    error.message += why;
  } else if (look.nobody()) {
    error.message += "it was given back or taken away, and nobody holds it";
  } else if (look.sidecar) {
    error.message += "it is held by another claim under epoch " + look.sidecar->epoch.text();
  } else {
    error.message += "it is held by a process of pi-amq, which gives no epochs";
  }
  error.holder = std::make_shared<const Observation>(observe(core_, look));
  return fail(std::move(error));
}

Result<void> Store::check_place(const Key& key) const {
  auto in_place = core_.root->in_place();
  if (!in_place) return fail(in_place.error());
  if (*in_place) return {};
  return fail(Code::lost,
              key.text() + " is lost: " + core_.root->path() + " was moved or removed, and the lease with it",
              "open the space again");
}

// Reads the sidecar alone: no owner record, and nobody is judged.
std::optional<Look> Store::glance(const std::optional<ClaimId>& claim, Epoch epoch) const {
  auto folder = core_.root->open_folder(kLease);
  if (!folder || *folder == nullptr) return std::nullopt;
  auto content = (*folder)->read(kSidecar, limits::kRecordBytes);
  if (!content || !*content) return std::nullopt;
  auto sidecar = decode_receiver_sidecar((*content)->bytes);
  if (!sidecar || sidecar->epoch != epoch || (claim && sidecar->claim != *claim)) return std::nullopt;
  auto identity = (*folder)->identity();
  if (!identity) return std::nullopt;
  Look look;
  look.folder = std::move(*folder);
  look.identity = *identity;
  look.sidecar = std::move(*sidecar);
  look.occupant.kind = rules::Occupant::Kind::holder;
  return look;
}

Result<Look> Store::current(const Key& key, const std::optional<ClaimId>& claim, Epoch epoch) {
  if (auto place = check_place(key); !place) return fail(place.error());
  if (auto seen = glance(claim, epoch)) return std::move(*seen);
  auto now = look(core_);
  if (!now) return fail(now.error());
  if (now->sidecar && now->sidecar->epoch == epoch && (!claim || now->sidecar->claim == *claim)) return now;
  // Somebody of us holds it, and it cannot be read who: no proof of a loss.
  const bool torn = !now->nobody() && !now->sidecar && (!now->owner || is_ours(now->generation()));
  if (torn) {
    return fail(Code::damaged,
                core_.path_of(kLease) + "/" + kSidecar + " is missing or damaged; its holder writes it again",
                "try again in a moment");
  }
  if (claim) drop_held(*claim);
  return lost(key, epoch, *now, "");
}

bool Store::lies_there(const Held& held) const {
  auto folder = core_.root->open_folder(kLease);
  if (!folder || *folder == nullptr) return false;
  auto entry = (*folder)->look(kLife);
  return entry && entry->identity == held.pass.identity();
}

Result<void> Store::restore(const ClaimRef& claim) {
  auto entered = enter(claim, Bound::of(core_, kGuardWait));
  if (!entered) return fail(entered.error());
  const auto& mine = (*entered)->held;
  if (!mine || !lies_there(*mine))
    return fail(Code::section_busy, "it changed hands while it was looked at", "try again");
  auto folder = core_.root->open_folder(kLease);
  if (!folder) return fail(folder.error());
  if (*folder == nullptr) return fail(Code::section_busy, "it went while it was looked at", "try again");
  auto entry = (*folder)->look(kSidecar);
  if (!entry) return fail(entry.error());
  if (entry->kind != env::EntryKind::absent && entry->kind != env::EntryKind::file) {
    auto random = fresh_random(core_);
    if (!random) return fail(random.error());
    auto quarantine = folder_of(core_, kQuarantine);
    if (!quarantine) return fail(quarantine.error());
    const std::string name = quarantined_guard(kSidecar, core_.clock().wall(), uuid_of(*random));
    if (auto aside = (*folder)->move(kSidecar, **quarantine, name); !aside) return fail(aside.error());
  }
  return (*folder)->replace(kSidecar, kSidecarNew, encode(mine->sidecar), false);
}

Result<Renewal> Store::renew(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  auto now = current(claim.key, claim.claim, claim.epoch);
  if (!now) return fail(now.error());
  return Renewal{claim.epoch, std::nullopt, std::nullopt};
}

Result<Renewal> Store::beat(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  auto now = current(claim.key, claim.claim, claim.epoch);
  if (now) return Renewal{claim.epoch, std::nullopt, std::nullopt};
  if (now.error().code != Code::damaged || !held(claim)) return fail(now.error());
  if (auto restored = restore(claim); !restored) return fail(restored.error());
  return Renewal{claim.epoch, std::nullopt, std::nullopt};
}

Result<Standing> Store::verify(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  auto now = current(claim.key, claim.claim, claim.epoch);
  if (now) return Standing{claim.epoch, std::nullopt};
  const auto mine = now.error().code == Code::damaged ? held(claim) : std::nullopt;
  if (!mine || !lies_there(*mine)) return fail(now.error());
  return Standing{.epoch = claim.epoch, .remaining = std::nullopt, .needs_beat = true};
}

Result<Observation> Store::holder(const Key& key) {
  if (key.text() != kReceiverKey) {
    Observation none(key);
    none.why = "a receiver: space has one key, receiver";
    return none;
  }
  auto now = look(core_);
  if (!now) return fail(now.error());
  Observation seen = observe(core_, *now);
  if (now->nobody()) {
    auto epochs = Epochs::read(core_);
    if (epochs) seen.epoch = epochs->highest();
  }
  return seen;
}

Result<std::vector<Observation>> Store::list(const std::string& prefix) {
  std::vector<Observation> all;
  if (!std::string(kReceiverKey).starts_with(prefix)) return all;
  auto seen = holder(*Key::parse(kReceiverKey));
  if (!seen) return fail(seen.error());
  if (seen->state != State::free) all.push_back(std::move(*seen));
  return all;
}

}  // namespace tenure::receiver
