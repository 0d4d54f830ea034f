// Handing a lease to a successor: the offer, which lies in the text of the lease, and its adoption.
#include <algorithm>

#include "engine/check_request.h"
#include "engine/local/claiming.h"
#include "engine/local/events.h"
#include "engine/local/guards.h"
#include "engine/local/judge.h"
#include "engine/local/local_engine.h"
#include "engine/local/teller.h"
#include "engine/local/together.h"
#include "engine/local/yielding.h"

namespace tenure::local {
namespace {

constexpr Duration kAfter = std::chrono::milliseconds(1);

std::unexpected<Error> changes_all_the_time(const Key& key) {
  return fail(Code::section_busy, key.text() + " changes all the time", "try again");
}

// The lease of the key that is offered to that owner.
const HoldingView* offered_to(Core& core, const SlotView& slot, const std::string& owner) {
  const auto is_offered_to = [&](const HoldingView& lease) {
    const auto offer = open_offer(core, lease);
    return offer && offer->to == owner && !past_guard(core, lease);
  };
  if (slot.held()) return is_offered_to(slot) ? &slot : nullptr;
  const auto found = std::ranges::find_if(slot.together, is_offered_to);
  return found == slot.together.end() ? nullptr : &*found;
}

// Whom it is offered to, if to anybody.
std::string offered_elsewhere(const Core& core, const SlotView& slot) {
  std::vector<const HoldingView*> leases{&slot};
  if (!slot.held()) leases.clear();
  for (const HoldingView& one : slot.together) leases.push_back(&one);
  for (const HoldingView* lease : leases) {
    if (const auto offer = open_offer(core, *lease)) return ", but to " + offer->to;
  }
  return "";
}

Error not_offered(Core& core, const ClaimRequest& request, const std::optional<SlotView>& slot) {
  Observation seen = observe(core, request.key, slot, Care::usual);
  if (seen.state == State::free) {
    return Error{Code::not_held, "nobody holds " + request.key.text() + ", so there is nothing to adopt", "claim it",
                 nullptr};
  }
  return Error{
      Code::not_offered,
      request.key.text() + " is not offered to " + request.owner + (slot ? offered_elsewhere(core, *slot) : ""),
      "ask its holder to hand it over", std::make_shared<const Observation>(std::move(seen))};
}

}  // namespace

// ---- the offer ------------------------------------------------------------------------------------------------------

Result<void> LocalEngine::hand_off(const ClaimRef& claim, const HandOff& offer) {
  if (auto checked = check_hand_off(offer); !checked) return checked;
  if (auto member = check_member(); !member) return member;
  for (int round = 0; round < kAmendments; ++round) {
    // Past its TTL it is refused, with the same error.
    if (auto standing = verify(claim); !standing) return fail(standing.error());
    auto lease = current(claim);
    if (!lease) return fail(lease.error());
    OfferNote note;
    note.time_namespace = core_->self().time_namespace;
    note.until = core_->monotonic_ns() + offer.within.count();
    note.since_wall = core_->wall_ns();
    note.until_wall = note.since_wall + offer.within.count();
    note.back = offer.back;
    note.to = offer.to;
    Yield yield = yield_in(lease->text);
    yield.offer = std::move(note);
    auto done = amend(*core_, *lease, yield,
                      {EventKind::offered, holder_of(*core_, *lease).owner,
                       "to " + offer.to + " for " + words(offer.within), true, true});
    if (!done) return fail(done.error());
    if (*done) return {};
  }
  return changes_all_the_time(claim.key);
}

Result<bool> LocalEngine::withdraw_hand_off(const ClaimRef& claim) {
  if (auto member = check_member(); !member) return fail(member.error());
  for (int round = 0; round < kAmendments; ++round) {
    auto lease = current(claim);
    if (!lease) return fail(lease.error());
    if (!open_offer(*core_, *lease)) return false;
    Yield yield = yield_in(lease->text);
    yield.offer.reset();
    auto done = amend(*core_, *lease, yield,
                      {EventKind::withdrawn, holder_of(*core_, *lease).owner, "the offer to a successor", true, true});
    if (!done || *done) return done;
  }
  return changes_all_the_time(claim.key);
}

// When an offer that goes to the line is over, so is the lease.
void LocalEngine::look_again_at_its_end(const HoldingView& lease) const {
  const auto offer = open_offer(*core_, lease);
  if (offer && offer->back == Back::line) tell_at(offer->until);
}

// Whoever tells of losses looks again after that time.
void LocalEngine::tell_at(std::int64_t monotonic) const {
  const std::lock_guard lock(mutex_);
  if (teller_) teller_->ring_in(Duration{monotonic - core_->monotonic_ns()} + kAfter);
}

// ---- adopting -------------------------------------------------------------------------------------------------------

// True: it is ours now.
Result<bool> Claiming::adopt(const HoldingView& offered) {
  now_ = read_clocks();
  Wakes wakes(core_);
  {
    const Cell& cell = core_.table.cell(offered.index);
    auto section = Section::enter(core_, bucket_, section_bound(core_));
    if (!section) return fail(section.error());
    if (!is_same(cell, offered) || !is_same_text(core_, cell, offered)) return false;
    if (!is_same_guard(cell, offered.guard)) return false;
    const auto end = offer_end(core_, cell);
    if (!end || now_.monotonic >= *end) return false;
    const Epoch epoch = take_epoch(core_);
    if (epoch.none()) {
      section->leave();
      if (auto raised = engine_.raise_ceiling(true); !raised) return fail(raised.error());
      return false;
    }
    TENURE_POINT("about to adopt");
    const std::string why = "to " + request_.owner + ", epoch " + epoch.text();
    const bool alone = offered.word.kind == Kind::slot;
    const CellIndex index = alone ? offered.index : cell.owner.load(std::memory_order_relaxed);
    Cell& slot = core_.table.cell(index);
    std::uint32_t number = kNoNumber;
    if (alone) {
      take_away(core_, slot, EventKind::handed_off, why, spent_);
    } else {
      number = slot_number_of(cell);
      take_away_together(core_, offered.index, EventKind::handed_off, why, spent_);
    }
    if (alone) slot.body[slot_field::kEpoch].store(epoch.value(), std::memory_order_release);
    hold(index, epoch, number);
    by_line_ = true;
    record_grant();
    // Who waits must watch another member now.
    if (const CellIndex first = first_in_line(slot); first != 0) wakes.raise(core_.table.cell(first));
  }
  settle(core_, wakes, spent_);
  return true;
}

Result<Grant> LocalEngine::adopt(const ClaimRequest& request) {
  if (auto checked = check_adoption(request, traits_); !checked) return fail(checked.error());
  if (auto member = check_change(request.key); !member) return fail(member.error());
  for (int round = 0; round < kAmendments; ++round) {
    auto slot = read_key(*core_, request.key.text());
    if (!slot) return fail(slot.error());
    const HoldingView* offered = *slot ? offered_to(*core_, **slot, request.owner) : nullptr;
    if (offered == nullptr) return fail(not_offered(*core_, request, *slot));
    if (guarded(*core_, *offered)) return fail(guarding::busy(request.key));
    ClaimRequest wanted = request;
    wanted.terms.mode = offered->terms.mode;
    wanted.terms.slots = offered->terms.slots;
    Claiming claiming(*this, wanted, nullptr);
    if (auto prepared = claiming.prepare(); !prepared) return fail(prepared.error());
    auto adopted = claiming.adopt(*offered);
    if (!adopted) return fail(adopted.error());
    if (*adopted) return claiming.grant();
  }
  return changes_all_the_time(request.key);
}

}  // namespace tenure::local
