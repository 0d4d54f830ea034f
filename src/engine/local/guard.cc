// Operations under guard.
#include "engine/guarding.h"
#include "engine/local/judge.h"
#include "engine/local/local_engine.h"
#include "engine/local/together.h"
#include "rules/fence.h"

namespace tenure::local {

Result<ClaimRef> LocalEngine::guarded_claim(const GuardRequest& request) const {
  if (request.claim) return ClaimRef{request.key, *request.claim, request.epoch};
  auto slot = read_key(*core_, request.key.text());
  if (!slot) return fail(slot.error());
  const Observation seen = observe(*core_, request.key, *slot, Care::usual);
  if (auto vouched = rules::epoch_current(seen, request.epoch); !vouched) return fail(vouched.error());
  if ((*slot)->held()) return ClaimRef{request.key, (*slot)->claim, request.epoch};
  for (const HoldingView& one : (*slot)->together) {
    if (one.epoch == request.epoch) return ClaimRef{request.key, one.claim, request.epoch};
  }
  return fail(Error{Code::lost, "whom epoch " + request.epoch.text() + " was granted to has not taken it up yet", "",
                    std::make_shared<const Observation>(seen)});
}

Result<void> LocalEngine::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto member = check_member(); !member) return member;
  const auto claim = guarded_claim(request);
  if (!claim) return fail(claim.error());
  // Past its TTL it is refused, with the same error.
  if (auto standing = verify(*claim); !standing) return fail(standing.error());
  auto seen = current(*claim);
  if (!seen) return fail(seen.error());
  Cell& slot = core_->table.cell(seen->index);
  const std::uint32_t bucket = slot.home.load(std::memory_order_relaxed);
  {
    auto section = Section::enter(*core_, bucket, section_bound(*core_));
    if (!section) return fail(section.error());
    if (!is_same(slot, *seen)) return fail(lost(*claim, std::nullopt));
    if (slot.body[slot_field::kGuard].load(std::memory_order_relaxed) != 0) {
      return fail(Code::section_busy, "another operation runs under the guard of " + request.key.text());
    }
    const auto until = static_cast<std::uint64_t>(core_->monotonic_ns() + guarding::bound_of(request).count());
    slot.body[slot_field::kGuard].store(until, std::memory_order_relaxed);
    seen->guard = static_cast<std::int64_t>(until);
  }
  auto own = operation();
  Wakes wakes(*core_);
  Spent spent;
  bool still = false;
  {
    auto section = Section::enter(*core_, bucket, section_bound(*core_));
    if (section && is_same(slot, *seen)) {
      still = guarded(*core_, *seen);
      if (still) {
        slot.body[slot_field::kGuard].store(0, std::memory_order_relaxed);
      } else {
        end_lease(*core_, *section, *seen, EventKind::lost, "an operation ran past the bound of its guard", wakes,
                  spent);
      }
    }
  }
  settle(*core_, wakes, spent);
  if (still) return own;
  return fail(guarding::past_bound(request, own));
}

}  // namespace tenure::local
