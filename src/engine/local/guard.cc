// Operations under guard.
#include <array>

#include "base/limits.h"
#include "engine/guarding.h"
#include "engine/local/guards.h"
#include "engine/local/judge.h"
#include "engine/local/local_engine.h"
#include "engine/local/together.h"
#include "engine/watchdog.h"
#include "rules/fence.h"

namespace tenure::local {
namespace {

constexpr Duration kAfterTheBound = std::chrono::milliseconds(2);  // it is kept in units of a little more than one

}  // namespace

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

bool LocalEngine::wait_for_guard(MonotonicTime begun) const {
  if (core_->environment.clock->monotonic() - begun >= limits::kSectionWait) return false;
  const env::Word nobody{0};
  core_->words->wait(std::array{env::Watched{&nobody, 0}}, limits::kSectionPollMost);
  return true;
}

Result<HoldingView> LocalEngine::begin_guard(const GuardRequest& request, const ClaimRef& claim) {
  const MonotonicTime begun = core_->environment.clock->monotonic();
  for (;;) {
    // Past its TTL it is refused, with the same error.
    if (auto standing = verify(claim); !standing) return fail(standing.error());
    auto seen = current(claim);
    if (!seen) return fail(seen.error());
    if (guarded(*core_, *seen)) {
      if (!wait_for_guard(begun)) return fail(guarding::busy(request.key));
      continue;
    }
    Cell& cell = core_->table.cell(seen->index);
    auto section = Section::enter(*core_, cell.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) return fail(section.error());
    if (!is_same(cell, *seen)) return fail(lost(claim, std::nullopt));
    if (!is_same_guard(cell, seen->guard)) continue;
    seen->guard = guard_word(core_->me, core_->monotonic_ns() + request.at_most.count());
    cell.body[slot_field::kGuard].store(seen->guard, std::memory_order_relaxed);
    return seen;
  }
}

// True: it stood until now. False: the lease is over, by this call or before.
Result<bool> LocalEngine::drop_guard(const HoldingView& guarded) {
  Wakes wakes(*core_);
  Spent spent;
  bool dropped = false;
  {
    Cell& cell = core_->table.cell(guarded.index);
    auto section = Section::enter(*core_, cell.home.load(std::memory_order_relaxed), section_bound(*core_));
    if (!section) {
      core_->unclean.store(true, std::memory_order_relaxed);
      return fail(section.error());
    }
    if (is_same(cell, guarded) && is_same_guard(cell, guarded.guard)) {
      dropped = core_->monotonic_ns() <= guard_until(guarded.guard);
      if (dropped) {
        cell.body[slot_field::kGuard].store(0, std::memory_order_relaxed);
        // It may have been all that kept the key from the first in line.
        const CellIndex slot =
            guarded.word.kind == Kind::slot ? guarded.index : cell.owner.load(std::memory_order_relaxed);
        const CellIndex first = first_in_line(core_->table.cell(slot));
        if (first != 0) wakes.raise(core_->table.cell(first));
      } else {
        end_lease(*core_, *section, guarded, EventKind::lost, kPastGuard, wakes, spent);
      }
    }
  }
  settle(*core_, wakes, spent);
  return dropped;
}

void LocalEngine::end_past_guard(const HoldingView& guarded) {
  if (core_->monotonic_ns() > guard_until(guarded.guard)) (void)drop_guard(guarded);
}

Result<void> LocalEngine::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto checked = guarding::check(request, operation); !checked) return checked;
  if (auto member = check_change(request.key); !member) return member;
  const auto claim = guarded_claim(request);
  if (!claim) return fail(claim.error());
  const auto begun = begin_guard(request, *claim);
  if (!begun) return fail(begun.error());
  // Whose lease it is shall learn of its loss at the bound. We learn it by ourselves.
  Watchdog watchdog;
  if (begun->word.member != core_->me) {
    (void)watchdog.start(request.at_most + kAfterTheBound, [&] { end_past_guard(*begun); });
  } else {
    tell_at(guard_until(begun->guard));
  }
  const auto own = [&] {
    const guarding::Inside inside(place(), request.key);
    return operation();
  }();
  watchdog.stop();
  if (auto member = check_member(); !member) return fail(guarding::lost_meanwhile(request, member.error(), own));
  const auto dropped = drop_guard(*begun);
  if (!dropped) return fail(guarding::not_dropped(request, dropped.error(), own));
  if (*dropped) return own;
  if (core_->monotonic_ns() > guard_until(begun->guard)) return fail(guarding::past_bound(request, own));
  return fail(guarding::lost_meanwhile(request, lost(*claim, std::nullopt), own));
}

}  // namespace tenure::local
