// Giving back and taking away.
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/local/events.h"
#include "engine/local/guards.h"
#include "engine/local/local_engine.h"
#include "engine/local/together.h"
#include "rules/ownership.h"

namespace tenure::local {
namespace {

// Of several together, the one whose epoch it names, as if it were the only one.
std::optional<SlotView> named_by(const RevokeRequest& request, const std::optional<SlotView>& seen) {
  if (!seen || !request.only_epoch) return seen;
  SlotView alone = *seen;
  std::erase_if(alone.together, [&](const HoldingView& one) { return one.epoch != *request.only_epoch; });
  return alone.together.empty() ? seen : alone;
}

constexpr int kRevocationLooks = 3;  // of a revocation: an offer, and the lease that it became

}  // namespace

Result<Released> LocalEngine::release(const ClaimRef& claim) {
  if (auto member = check_change(claim.key); !member) return fail(member.error());
  const MonotonicTime begun = core_->environment.clock->monotonic();
  for (;;) {
    auto seen = read_lease(*core_, claim.key.text(), claim.claim, claim.epoch);
    if (!seen) return fail(seen.error());
    if (!*seen) {
      auto now = read_key(*core_, claim.key.text());
      if (!now) return fail(now.error());
      if (!*now || (!(*now)->held() && (*now)->together.empty())) return Released{false};
      return fail(lost(claim, *now));
    }
    if (guarded(*core_, **seen)) {
      if (!wait_for_guard(begun)) return fail(guarding::busy(claim.key));
      continue;
    }
    auto given = give_back(claim, **seen);
    if (!given) return fail(given.error());
    if (*given) return Released{true};
  }
}

// False: a guard began, or ended, since it was looked at.
Result<bool> LocalEngine::give_back(const ClaimRef& claim, const HoldingView& seen) {
  Wakes wakes(*core_);
  Spent spent;
  {
    const Cell& cell = core_->table.cell(seen.index);
    auto section = Section::enter(*core_, cell.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) {
      core_->unclean.store(true, std::memory_order_relaxed);
      return fail(section.error());
    }
    if (!is_same(cell, seen)) return fail(lost(claim, std::nullopt));
    if (!is_same_guard(cell, seen.guard)) return false;
    end_lease(*core_, *section, seen, EventKind::released, "", wakes, spent);
    if (seen.word.member == core_->me) spent.knock_count = 0;
  }
  settle(*core_, wakes, spent);
  std::unique_ptr<env::PassedByte> passed;
  std::lock_guard lock(mutex_);
  if (const auto found = passed_.find(claim.claim.text()); found != passed_.end()) {
    passed = std::move(found->second);
    passed_.erase(found);
  }
  return true;
}

Result<Revoked> LocalEngine::revoke(const RevokeRequest& request) {
  if (auto member = check_change(request.key); !member) return fail(member.error());
  if (auto text = check_text("reason", request.reason, limits::kReasonBytes, true); !text) return fail(text.error());
  // What was offered may be taken up between the look and the act: it is the same lease, and is looked at once more.
  RevokeRequest pinned = request;
  for (int look = 1;; ++look) {
    auto seen = read_key(*core_, request.key.text());
    if (!seen) return fail(seen.error());
    Observation was = observe(*core_, request.key, named_by(request, *seen), Care::usual);
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
  // All of those who hold it together or none; a pinned epoch means the one that has it.
  std::vector<const HoldingView*> ending;
  if (seen->together.empty()) ending.push_back(&*seen);
  for (const HoldingView& one : seen->together) {
    const bool other = request.only_epoch && seen->together.size() > 1 && one.epoch != *request.only_epoch;
    if (!other) ending.push_back(&one);
  }
  if (ending.empty()) return refuse(Code::epoch_changed, request.key.text() + " has no such epoch", "");
  for (const HoldingView* one : ending) {
    const rules::Occupant occupant =
        seen->together.empty() ? occupant_of(*core_, *seen, Care::usual) : occupant_of(*core_, *one, Care::usual);
    const auto verdict = rules::decide_revoke(occupant, rules::Expiry::proof, one->epoch, request.force, request.reason,
                                              request.only_epoch);
    if (!verdict.allowed) return refuse(verdict.code, request.key.text() + ": " + verdict.why, "");
    if (guarded(*core_, *one)) {
      const Error busy = guarding::busy(request.key);
      return refuse(busy.code, busy.message, busy.remedy);
    }
  }
  if (seen->held() || !seen->together.empty()) return end_leases(request.key, ending, request.reason);
  return withdraw_offer(*seen);
}

// True: at least one of them was still there.
Result<bool> LocalEngine::end_leases(const Key& key, const std::vector<const HoldingView*>& leases,
                                     const std::string& why) {
  bool ended = false;
  for (const HoldingView* lease : leases) {
    Wakes wakes(*core_);
    Spent spent;
    {
      const Cell& cell = core_->table.cell(lease->index);
      auto section = Section::enter(*core_, cell.home.load(std::memory_order_relaxed), section_bound(*core_));
      if (!section) return fail(section.error());
      if (!is_same(cell, *lease)) continue;
      if (!is_same_guard(cell, lease->guard)) return fail(guarding::busy(key));
      end_lease(*core_, *section, *lease, EventKind::revoked, why, wakes, spent);
      ended = true;
    }
    settle(*core_, wakes, spent);
  }
  return ended;
}

Result<bool> LocalEngine::withdraw_offer(const SlotView& seen) {
  Wakes wakes(*core_);
  Spent spent;
  {
    Cell& slot = core_->table.cell(seen.index);
    auto section = Section::enter(*core_, slot.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) return fail(section.error());
    if (!is_same(slot, seen) || grantee_of(slot) != seen.grantee) return false;
    withdraw_grant(*core_, slot, wakes);
    (void)grant_next(*core_, slot, wakes, core_->monotonic_ns());
    if (end_if_idle(*core_, section->bucket(), seen.index)) spent.slot = seen.index;
  }
  settle(*core_, wakes, spent);
  return true;
}

}  // namespace tenure::local
