// Giving back and taking away.
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/local/events.h"
#include "engine/local/local_engine.h"
#include "rules/ownership.h"

namespace tenure::local {
namespace {

constexpr int kRevocationLooks = 3;  // of a revocation: an offer, and the lease that it became

}  // namespace

Result<Released> LocalEngine::release(const ClaimRef& claim) {
  if (auto member = check_member(); !member) return fail(member.error());
  auto seen = read_key(*core_, claim.key.text());
  if (!seen) return fail(seen.error());
  const bool held = *seen && (*seen)->held();
  if (!held) return Released{false};
  if ((*seen)->claim != claim.claim || (*seen)->epoch != claim.epoch) return fail(lost(claim, *seen));
  Wakes wakes(*core_);
  Spent spent;
  {
    Cell& slot = core_->table.cell((*seen)->index);
    auto section = Section::enter(*core_, slot.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) {
      core_->unclean.store(true, std::memory_order_relaxed);
      return fail(section.error());
    }
    if (!is_same(slot, **seen)) return fail(lost(claim, std::nullopt));
    if (slot.body[slot_field::kGuard].load(std::memory_order_relaxed) != 0 && guarded(*core_, **seen)) {
      return fail(Code::section_busy, "an operation runs under the guard of " + claim.key.text(),
                  "release it when the operation has ended");
    }
    take_away(*core_, slot, EventKind::released, "", spent);
    if ((*seen)->word.member == core_->me) spent.knock = {};
    (void)grant_next(*core_, slot, wakes, core_->monotonic_ns());
    if (end_if_idle(*core_, section->bucket(), (*seen)->index)) spent.slot = (*seen)->index;
  }
  settle(*core_, wakes, spent);
  std::unique_ptr<env::PassedByte> passed;
  std::lock_guard lock(mutex_);
  if (const auto found = passed_.find(claim.claim.text()); found != passed_.end()) {
    passed = std::move(found->second);
    passed_.erase(found);
  }
  return Released{true};
}

Result<Revoked> LocalEngine::revoke(const RevokeRequest& request) {
  if (auto member = check_member(); !member) return fail(member.error());
  if (auto text = check_text("reason", request.reason, limits::kReasonBytes, true); !text) return fail(text.error());
  // What was offered may be taken up between the look and the act: it is the same lease, and is looked at once more.
  RevokeRequest pinned = request;
  for (int look = 1;; ++look) {
    auto seen = read_key(*core_, request.key.text());
    if (!seen) return fail(seen.error());
    Observation was = observe(*core_, request.key, *seen, Care::usual);
    auto revoked = revoke_as_seen(pinned, *seen, was);
    if (!revoked) return fail(revoked.error());
    if (*revoked) return Revoked{.was = std::move(was), .notes = {}};
    if (look == kRevocationLooks) {
      return fail(Error{Code::epoch_changed, request.key.text() + " changed hands meanwhile",
                        "look again, and try again", std::make_shared<const Observation>(std::move(was))});
    }
    pinned.only_epoch = (*seen)->epoch;
  }
}

// False: it is no longer as it was seen.
Result<bool> LocalEngine::revoke_as_seen(const RevokeRequest& request, const std::optional<SlotView>& seen,
                                         const Observation& was) {
  if (was.state == State::free) return fail(Code::not_held, "nobody holds " + request.key.text());
  const auto refuse = [&](Code code, std::string why, std::string remedy) {
    return fail(Error{code, std::move(why), std::move(remedy), std::make_shared<const Observation>(was)});
  };
  const bool by_offer = !seen->held();
  const auto verdict = rules::decide_revoke(occupant_of(*core_, *seen, Care::usual), rules::Expiry::proof, seen->epoch,
                                            request.force, request.reason, request.only_epoch);
  if (!verdict.allowed) return refuse(verdict.code, request.key.text() + ": " + verdict.why, "");
  if (guarded(*core_, *seen) && was.verdict.liveness != Liveness::dead) {
    return refuse(Code::section_busy, "an operation runs under the guard of " + request.key.text(),
                  "try again when it has ended");
  }
  Wakes wakes(*core_);
  Spent spent;
  {
    Cell& slot = core_->table.cell(seen->index);
    auto section = Section::enter(*core_, slot.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) return fail(section.error());
    if (!is_same(slot, *seen) || (by_offer && grantee_of(slot) != seen->grantee)) return false;
    if (by_offer) {
      withdraw_grant(*core_, slot, wakes);
    } else {
      take_away(*core_, slot, EventKind::revoked, request.reason, spent);
    }
    (void)grant_next(*core_, slot, wakes, core_->monotonic_ns());
    if (end_if_idle(*core_, section->bucket(), seen->index)) spent.slot = seen->index;
  }
  settle(*core_, wakes, spent);
  return true;
}

}  // namespace tenure::local
