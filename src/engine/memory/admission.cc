#include "engine/memory/admission.h"

#include <algorithm>

#include "base/limits.h"
#include "rules/offer.h"
#include "rules/sharing.h"

namespace tenure::memory {

namespace {

using Answer = rules::ClaimVerdict::Answer;

rules::ClaimVerdict verdict_on(const Holding& holding, const ClaimRequest& request, const Viewer& viewer) {
  const rules::Claimant claimant{request.owner, request.part, viewer.self()};
  const rules::Occupant occupant = viewer.occupant(holding);
  auto verdict = rules::decide_claim(rules::Expiry::proof, occupant, claimant);
  if (verdict.granted() && viewer.guarded(holding)) {
    return {Answer::held, "an operation runs under its guard", std::nullopt};
  }
  if (viewer.offered(holding) && rules::offer_keeps_off(verdict, occupant)) {
    return {Answer::held, "its holder is dead, and had offered it to " + holding.offer->offer.to, std::nullopt};
  }
  return verdict;
}

}  // namespace

Admission admit(const Slot& slot, const ClaimRequest& request, const Viewer& viewer) {
  Admission admission;
  admission.granted = true;
  admission.verdict = {Answer::free, "nobody holds it", std::nullopt};
  const bool limited = request.terms.mode == Mode::exclusive;
  std::size_t companions = 0;
  std::vector<std::size_t> takeable;  // companions that would make room
  const auto refuse = [&](std::size_t index, rules::ClaimVerdict verdict) {
    return Admission{.granted = false, .verdict = std::move(verdict), .blocker = index, .own = {}, .displaced = {}};
  };

  for (std::size_t i = 0; i < slot.holdings.size(); ++i) {
    const Holding& holding = slot.holdings[i];
    auto verdict = verdict_on(holding, request, viewer);
    if (verdict.answer == Answer::reclaim) {
      admission.own = i;
      admission.verdict = std::move(verdict);
    } else if (rules::coexist(holding.terms, request.terms)) {
      ++companions;
      if (verdict.granted()) takeable.push_back(i);
    } else if (rules::room_beside(holding.terms, 1, request.terms) == rules::Room::other_number && !verdict.granted()) {
      auto refusal = refuse(i, {Answer::held, "it is held as " + std::to_string(holding.terms.slots) + " slots", {}});
      refusal.other_number = true;
      return refusal;
    } else if (verdict.granted()) {
      admission.displaced.push_back(i);
      if (!admission.own) admission.verdict = std::move(verdict);
    } else {
      return refuse(i, std::move(verdict));
    }
  }

  for (std::size_t i : takeable) {
    if (!limited || companions < request.terms.slots) break;
    admission.displaced.push_back(i);
    if (!admission.own) admission.verdict = verdict_on(slot.holdings[i], request, viewer);
    --companions;
  }
  if (limited && companions > 0 && companions >= request.terms.slots) {
    return refuse(0, {Answer::held, rules::words_of_holders(request.terms, companions), std::nullopt});
  }
  if (companions >= limits::kTogether) {
    return refuse(0, {Answer::held, "as many hold it together as may, " + std::to_string(companions), std::nullopt});
  }
  std::sort(admission.displaced.begin(), admission.displaced.end());
  return admission;
}

std::uint32_t free_number(const Slot& slot) {
  for (std::uint32_t number = 0;; ++number) {
    const bool taken = std::any_of(slot.holdings.begin(), slot.holdings.end(),
                                   [&](const Holding& holding) { return holding.holder.slot == number; });
    if (!taken) return number;
  }
}

bool is_reclaim(const Slot& slot, const ClaimRequest& request, const Viewer& viewer) {
  return std::any_of(slot.holdings.begin(), slot.holdings.end(), [&](const Holding& holding) {
    return verdict_on(holding, request, viewer).answer == Answer::reclaim;
  });
}

}  // namespace tenure::memory
