#include "engine/memory/memory_engine.h"

#include <algorithm>
#include <memory>

#include "engine/memory/memory_changes.h"
#include "engine/memory/memory_client.h"

namespace tenure {

namespace {

Traits traits_of_memory() {
  Traits traits;
  traits.name = "memory";
  traits.shared = true;
  traits.slots = true;
  traits.ttl = true;
  traits.first_in_first_out = true;
  traits.asks = true;
  traits.handoff = true;
  traits.exclusion = "strict within one process, among those who share one store";
  return traits;
}

std::optional<BootTime> valid_until(const memory::Holding& holding) {
  if (!holding.terms.ttl) return std::nullopt;
  return holding.extended_boot + *holding.terms.ttl;
}

}  // namespace

std::shared_ptr<Engine> open_memory(std::shared_ptr<MemoryStore> store, env::Environment environment) {
  return std::make_shared<MemoryEngine>(std::move(store), std::move(environment));
}

MemoryEngine::MemoryEngine(std::shared_ptr<MemoryStore> store, env::Environment environment)
    : store_(std::move(store)),
      environment_(std::move(environment)),
      viewer_(environment_),
      traits_(traits_of_memory()) {}

// Asked before the mutex: a child may have inherited it locked.
Result<void> MemoryEngine::check_process() const {
  if (!environment_.processes->forked()) return {};
  return fail(Code::wrong_process, "a forked child has no part in its parent's memory: space",
              "open a space in the child");
}

guarding::Place MemoryEngine::place() const {
  return {std::to_string(reinterpret_cast<std::uintptr_t>(store_.get())), viewer_.self()};
}

Result<void> MemoryEngine::check_change(const Key& key) const {
  if (auto own = check_process(); !own || !guarding::inside_any()) return own;
  return guarding::check_outside(place(), key);
}

Error MemoryEngine::lost(const ClaimRef& claim, const memory::Slot* slot, const std::string& why) const {
  Error error{Code::lost, claim.key.text() + " is no longer held by this claim: " + why, "", nullptr};
  const std::string ending = store_->why_ended(claim.claim);
  if (!ending.empty()) error.message += " (" + ending + ")";
  if (slot != nullptr) error.holder = std::make_shared<const Observation>(viewer_.observe(claim.key, *slot));
  return error;
}

void MemoryEngine::end_overdue(const Key& key, memory::Slot& slot) {
  for (auto it = slot.holdings.begin(); it != slot.holdings.end();) {
    const bool past_guard = viewer_.past_guard(*it);
    if (!past_guard && !viewer_.back_to_line(*it)) {
      ++it;
      continue;
    }
    if (past_guard) {
      store_->remember(*it, EventKind::lost, "an operation ran past the bound of its guard");
    } else {
      store_->remember(*it, EventKind::released, memory::Viewer::not_adopted(*it));
    }
    it = slot.holdings.erase(it);
    store_->announce(key);
  }
}

Result<MemoryEngine::Current> MemoryEngine::current(const ClaimRef& claim) {
  const auto found = store_->slots_.find(claim.key);
  if (found == store_->slots_.end()) return fail(lost(claim, nullptr, "it was given back or taken away"));
  memory::Slot& slot = found->second;
  end_overdue(claim.key, slot);
  const auto mine = std::find_if(slot.holdings.begin(), slot.holdings.end(),
                                 [&](const memory::Holding& holding) { return holding.claim == claim.claim; });
  const bool is_mine = mine != slot.holdings.end();
  if (!is_mine && slot.holdings.empty()) return fail(lost(claim, &slot, "it was given back or taken away"));

  const memory::Holding& shown = is_mine ? *mine : slot.holdings.front();
  rules::CurrentFacts facts;
  facts.kind = rules::Occupant::Kind::holder;
  facts.claim = shown.claim;
  facts.record_epoch = shown.epoch;
  facts.hard_ttl = shown.terms.ttl;
  facts.since_extension = environment_.clock->boottime() - shown.extended_boot;
  const auto verdict = rules::decide_current(facts, claim.claim, claim.epoch);
  switch (verdict.answer) {
    case rules::CurrentVerdict::Answer::current:
      return Current{slot, *mine, std::nullopt};
    case rules::CurrentVerdict::Answer::late:
      return Current{slot, *mine, verdict.late_by};
    default:
      return fail(lost(claim, &slot, verdict.why));
  }
}

// Nothing here goes by silence, so a sign of life has nothing to write.
Result<Renewal> MemoryEngine::beat(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  return Renewal{mine->holding.epoch, mine->late_by, valid_until(mine->holding)};
}

Result<Renewal> MemoryEngine::renew(const ClaimRef& claim) {
  if (auto own = check_change(claim.key); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  mine->holding.extended_monotonic = environment_.clock->monotonic();
  mine->holding.extended_boot = environment_.clock->boottime();
  store_->announce(claim.key);
  return Renewal{mine->holding.epoch, mine->late_by, valid_until(mine->holding)};
}

Result<Standing> MemoryEngine::verify(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  if (mine->late_by) {
    return fail(Code::expired, claim.key.text() + " is past its TTL by " + words(*mine->late_by), "renew it");
  }
  Standing standing{mine->holding.epoch, std::nullopt};
  if (auto until = valid_until(mine->holding)) standing.remaining = *until - environment_.clock->boottime();
  return standing;
}

Result<Released> MemoryEngine::release(const ClaimRef& claim) {
  if (auto own = check_change(claim.key); !own) return fail(own.error());
  std::unique_lock lock(store_->mutex_);
  const MonotonicTime begun = environment_.clock->monotonic();
  for (;;) {
    auto mine = current(claim);
    if (!mine) {
      const auto found = store_->slots_.find(claim.key);
      const bool held = found != store_->slots_.end() && !found->second.holdings.empty();
      if (held) return fail(mine.error());
      return Released{false};
    }
    if (viewer_.guarded(mine->holding)) {
      if (!wait_for_guard(lock, begun)) return fail(guarding::busy(claim.key));
      continue;
    }
    memory::Slot& slot = mine->slot;
    store_->remember(mine->holding, EventKind::released, "");
    slot.holdings.erase(slot.holdings.begin() + (&mine->holding - slot.holdings.data()));
    settle(claim.key, slot);
    store_->announce(claim.key);
    store_->tidy(claim.key);
    return Released{true};
  }
}

Result<Observation> MemoryEngine::holder(const Key& key) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  const auto found = store_->slots_.find(key);
  return viewer_.observe(key, found == store_->slots_.end() ? memory::Slot{} : found->second);
}

Result<std::vector<Observation>> MemoryEngine::list(const std::string& prefix) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  std::vector<Observation> all;
  for (const auto& [key, slot] : store_->slots_) {
    if (key.text().starts_with(prefix) && !slot.holdings.empty()) all.push_back(viewer_.observe(key, slot));
  }
  return all;
}

Result<std::unique_ptr<Changes>> MemoryEngine::changes() {
  if (auto own = check_process(); !own) return fail(own.error());
  return std::make_unique<MemoryChanges>(store_, environment_);
}

}  // namespace tenure
