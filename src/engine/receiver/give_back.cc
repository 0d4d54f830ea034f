// Giving the lease back, and taking it away.
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/receiver/store.h"
#include "model/side_files.h"

namespace tenure::receiver {
namespace {

constexpr std::size_t kMostInLease = 256;  // names in the folder of a lease; ours has three

std::string one_line(const Observation& seen) {
  if (!seen.holder) return seen.note;
  return seen.holder->owner + " (pid " + std::to_string(seen.holder->process.pid) + " on " + seen.holder->host +
         "): " + seen.verdict.evidence;
}

}  // namespace

Result<void> remove_folder(env::Directory& parent, const std::string& name) {
  auto folder = parent.open_folder(name);
  if (!folder) return fail(folder.error());
  if (*folder == nullptr) return {};
  auto names = (*folder)->list(kMostInLease);
  if (!names) return fail(names.error());
  for (const std::string& each : *names) {
    if (auto removed = (*folder)->remove(each); !removed) return fail(removed.error());
  }
  auto removed = parent.remove_folder(name);
  if (!removed) return fail(removed.error());
  return {};
}

// The store cannot be written, and the caller has given up the lease all the same: without the life lock others of us
// can prove it over, whatever the records say.
Error Store::given_up(const ClaimRef& claim, Error error) {
  if (!held(claim)) return error;
  drop_held(claim.claim);
  const bool in_the_way = error.code == Code::damaged || error.code == Code::holder_live;
  return Error{Code::unknown_outcome,
               "the lease in " + core_.root->path() + " may still be there (" + error.message +
                   "); its life lock was let go, so it counts as over, but not to pi-amq while this process lives",
               in_the_way ? error.remedy : "nothing needs to be done for tenure: the next claimant takes it over",
               nullptr};
}

// Another thread of this process stands in the guard, on the pass of the lease: it goes on, and so does the lease.
bool Store::guards_itself(const ClaimRef& claim) {
  const auto mine = held(claim);
  return mine && mine->pass.turn->taken();
}

Result<std::unique_ptr<Store::Entered>> Store::enter(const std::optional<ClaimRef>& claim, const Bound& bound) {
  auto entered = std::make_unique<Entered>();
  if (claim) entered->held = held(*claim);
  if (entered->held) {
    // Somebody may have taken the lease away, and our pass with it.
    auto there = entered->held->pass.folder->look(kLife);
    if (!there || there->identity != entered->held->pass.identity()) entered->held.reset();
  }
  if (!entered->held) {
    auto draft = Draft::make(core_);
    if (!draft) return fail(draft.error());
    entered->draft = std::make_unique<Draft>(std::move(*draft));
  }
  auto guard = Guard::enter(core_, entered->pass(), bound);
  if (!guard) return fail(guard.error());
  entered->guard.emplace(std::move(*guard));
  return entered;
}

Result<Released> Store::release(const ClaimRef& claim) {
  if (auto own = check_change(claim.key); !own) return fail(own.error());
  auto entered = enter(claim, Bound::of(core_, limits::kSectionWait));
  if (!entered && guards_itself(claim)) return fail(guarding::busy(claim.key));
  if (!entered) return fail(given_up(claim, entered.error()));
  auto now = glance(claim.claim, claim.epoch);
  if (!now) {
    auto seen = look(core_);
    if (!seen) return fail(given_up(claim, seen.error()));
    if (seen->nobody()) {
      drop_held(claim.claim);
      return Released{false};
    }
    const bool mine = seen->sidecar && seen->sidecar->claim == claim.claim && seen->sidecar->epoch == claim.epoch;
    const bool torn = !seen->sidecar && (*entered)->held && lies_there(*(*entered)->held);
    if (!mine && !torn && !seen->sidecar && (!seen->owner || is_ours(seen->generation()))) {
      return fail(Code::damaged,
                  core_.path_of(kLease) + "/" + kSidecar + " is missing or damaged; its holder writes it again",
                  "try again in a moment");
    }
    if (!mine && !torn) return lost(claim.key, claim.epoch, *seen, "");
    now = std::move(*seen);
  }
  if (auto gone = discard(*now, claim.claim); !gone) return fail(given_up(claim, gone.error()));
  (void)(*entered)->guard->leave();
  drop_held(claim.claim);
  return Released{true};
}

// Checked after the move, since whoever keeps no guard may have put another lease there. What a lost answer leaves open
// is looked up.
Result<void> Store::move_lease(const Look& look, env::Directory& into, const std::string& name) {
  auto moved = core_.root->move(kLease, into, name);
  auto entry = into.look(name);
  if (entry && entry->identity == look.identity) return {};
  if (!moved) return fail(moved.error());
  if (*moved != env::Moved::moved) {
    return fail(Code::section_busy, core_.path_of(kLease) + " was taken away without the guard", "try again");
  }
  if (!entry) return {};  // it was moved, whether it can be looked at or not
  (void)into.move(name, *core_.root, kLease);
  return fail(Code::section_busy, core_.path_of(kLease) + " was replaced without the guard", "try again");
}

// Out of the way by one rename; the rest is tidying, which a sweep makes good where it fails.
Result<void> Store::discard(const Look& look, const ClaimId& claim) {
  std::string uuid = claim.text();
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) uuid.insert(dash, "-");
  const std::string name = released(look.generation(), uuid);
  if (auto moved = move_lease(look, *core_.root, name); !moved) return moved;
  (void)remove_folder(*core_.root, name);
  return {};
}

Result<void> Store::write_revocation(const std::string& reason, bool forced, const Observation& was) {
  const Standpoint& self = core_.environment.processes->self();
  Revocation revocation;
  revocation.epoch = was.epoch;
  revocation.reason = reason;
  revocation.by_user = self.user_name;
  revocation.by_host = self.host;
  revocation.by_pid = self.identity.pid;
  revocation.by_command = self.command;
  revocation.forced = forced;
  revocation.at_ms = core_.clock().wall().milliseconds();
  revocation.was = one_line(was);
  return core_.root->replace(kRevoked, kRevokedNew, encode(revocation), true);
}

Result<Revoked> Store::revoke(const RevokeRequest& request) {
  if (auto own = check_change(request.key); !own) return fail(own.error());
  if (auto text = check_text("reason", request.reason, limits::kReasonBytes, true); !text) return fail(text.error());
  auto entered = enter(std::nullopt, Bound::of(core_, kGuardWait));
  if (!entered) return fail(entered.error());
  auto now = look(core_);
  if (!now) return fail(now.error());
  Revoked revoked{observe(core_, *now), {}};
  const auto verdict = rules::decide_revoke(now->occupant, rules::Expiry::proof, now->epoch(), request.force,
                                            request.reason, request.only_epoch);
  if (!verdict.allowed) {
    Error error{verdict.code, std::string(kReceiverKey) + ": " + verdict.why, "", nullptr};
    if (!now->nobody() && pi_word(*now) != "held") error.message += " (" + pi_word(*now) + ")";
    error.holder = std::make_shared<const Observation>(revoked.was);
    return fail(std::move(error));
  }
  if (auto written = write_revocation(request.reason, request.force, revoked.was); !written) {
    return fail(written.error());
  }
  auto evidence = quarantine(*now);
  if (!evidence) return fail(evidence.error());
  revoked.notes.push_back("the lease is kept as " + *evidence);
  auto left = (*entered)->guard->leave();
  if (!left) revoked.notes.push_back("the guard could not be removed yet: " + left.error().message);
  if (auto synced = core_.root->sync(); !synced) {
    return fail(Code::unknown_outcome,
                std::string(kReceiverKey) +
                    " was taken away, but a loss of power may bring it back: " + synced.error().message);
  }
  return revoked;
}

}  // namespace tenure::receiver
