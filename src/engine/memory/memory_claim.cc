// Claiming and waiting: every claim enters the line, and the head of the line is granted what it may have.
#include <algorithm>
#include <array>

#include "engine/check_request.h"
#include "engine/memory/memory_client.h"
#include "rules/liveness.h"

namespace tenure {

namespace {

// How often a waiting claim looks again by itself: at the clock, at its Stop, at whether the holder still lives.
constexpr std::chrono::milliseconds kLook{5};

Holder holder_for(const ClaimRequest& request, const env::Environment& environment) {
  const Standpoint& self = environment.processes->self();
  Holder holder;
  holder.owner = request.owner;
  holder.part = request.part;
  holder.process = self.identity;
  holder.owner_process = request.owner_process;
  holder.host = self.host;
  holder.user_name = self.user_name;
  holder.command = request.command.empty() ? self.command : request.command;
  holder.directory = request.directory.empty() ? self.directory : request.directory;
  holder.reason = request.terms.reason;
  holder.channel = request.channel;
  holder.version = request.version;
  holder.session = request.session;
  holder.since = environment.clock->wall();
  holder.ttl = request.terms.ttl;
  holder.mode = request.terms.mode;
  holder.slots = request.terms.slots;
  return holder;
}

// Who holds now, as far as a waiting claimant is told of changes.
Epoch shown_epoch(const memory::Slot& slot) {
  return slot.holdings.empty() ? Epoch{} : slot.holdings.front().epoch;
}

}  // namespace

Result<Grant> MemoryEngine::try_claim(const ClaimRequest& request) {
  return await(request, Wait{.at_most = Duration{0}, .stop = nullptr, .on_wait = nullptr});
}

Result<Grant> MemoryEngine::await(const ClaimRequest& request, const Wait& wait) {
  if (auto own = check_change(request.key); !own) return fail(own.error());
  if (auto checked = check_request(request, traits_); !checked) return fail(checked.error());
  auto claim = fresh_claim();
  if (!claim) return fail(claim.error());
  memory::Waiter waiter{.request = request, .environment = environment_, .claim = *claim};

  std::unique_lock lock(store_->mutex_);
  auto slot = enter_line(waiter);
  if (!slot) return fail(slot.error());
  auto granted = wait_in_line(lock, waiter, wait);
  leave_line(waiter);
  return granted;
}

Result<ClaimId> MemoryEngine::fresh_claim() const {
  std::array<std::uint8_t, 16> bytes{};
  if (auto filled = environment_.random->fill(bytes); !filled) return fail(filled.error());
  return ClaimId(bytes);
}

Result<memory::Slot*> MemoryEngine::enter_line(memory::Waiter& waiter) {
  const Key& key = waiter.request.key;
  if (!store_->slots_.contains(key) && store_->slots_.size() >= memory::kMaxKeys) {
    return fail(Code::limit_reached, "a memory: space holds at most " + std::to_string(memory::kMaxKeys) + " keys",
                "release some");
  }
  memory::Slot& slot = store_->slots_[key];
  if (slot.line.size() >= memory::kMaxLine) {
    return fail(Code::limit_reached, "at most " + std::to_string(memory::kMaxLine) +
                                         " may wait for one key, and so many wait for " + key.text() + " already");
  }
  if (memory::is_reclaim(slot, waiter.request, viewer_)) {
    if (another_gives_up(slot, waiter.request)) {
      return fail(Code::would_deadlock,
                  "another holder of " + key.text() + " waits for the others to go, as this claim would",
                  "release what this process holds of it, then claim it");
    }
    slot.line.push_front(&waiter);
  } else {
    slot.line.push_back(&waiter);
  }
  return &slot;
}

// Both hold it together with others, and each waits for the other to go.
bool MemoryEngine::another_gives_up(const memory::Slot& slot, const ClaimRequest& request) const {
  if (memory::admit(slot, request, viewer_).granted) return false;
  return std::any_of(slot.line.begin(), slot.line.end(), [&](const memory::Waiter* other) {
    return memory::is_reclaim(slot, other->request, memory::Viewer(other->environment));
  });
}

void MemoryEngine::leave_line(const memory::Waiter& waiter) {
  const Key& key = waiter.request.key;
  const auto found = store_->slots_.find(key);
  if (found == store_->slots_.end()) return;
  if (std::erase(found->second.line, &waiter) > 0) store_->changed_.notify_all();  // the next one may be let in now
  store_->tidy(key);
}

Result<Grant> MemoryEngine::wait_in_line(std::unique_lock<std::mutex>& lock, memory::Waiter& waiter, const Wait& wait) {
  const MonotonicTime begun = environment_.clock->monotonic();
  std::optional<Epoch> told;
  while (true) {
    if (waiter.outcome) return *waiter.outcome;
    // The slot stays while this claim is in its line.
    memory::Slot& slot = store_->slots_.at(waiter.request.key);
    settle(waiter.request.key, slot);
    if (waiter.outcome) return *waiter.outcome;
    if (wait.at_most == Duration{0}) return fail(refusal(waiter.request, slot));
    if (memory::admit(slot, waiter.request, viewer_).other_number) return fail(refusal(waiter.request, slot));
    if (wait.stop != nullptr && wait.stop->requested()) {
      return fail(Code::cancelled, "the wait for " + waiter.request.key.text() + " was given up");
    }
    if (wait.at_most && environment_.clock->monotonic() - begun >= *wait.at_most) {
      Error error = refusal(waiter.request, slot);
      return fail(
          Error{Code::timed_out, "waited " + words(*wait.at_most) + ": " + error.message, error.remedy, error.holder});
    }
    if (told != shown_epoch(slot)) {
      told = shown_epoch(slot);
      const Observation seen = viewer_.observe(waiter.request.key, slot);
      lock.unlock();
      if (wait.on_wait) wait.on_wait(seen);
      lock.lock();
      continue;
    }
    store_->changed_.wait_for(lock, kLook);
  }
}

void MemoryEngine::settle(const Key& key, memory::Slot& slot) {
  end_overdue(key, slot);
  while (!slot.line.empty()) {
    memory::Waiter& first = *slot.line.front();
    if (auto dead = death_of(first)) {
      // A process that has died will never take what it is given.
      first.outcome = fail(Code::cancelled, "the waiting process has died: " + *dead);
    } else {
      // Judged by the claimant's own sight, not by that of whoever happens to pass.
      const auto admission = memory::admit(slot, first.request, memory::Viewer(first.environment));
      if (!admission.granted) return;
      first.outcome = grant(first, slot, admission);
    }
    slot.line.pop_front();
    store_->announce(key);
  }
}

std::optional<std::string> MemoryEngine::death_of(const memory::Waiter& waiter) const {
  const ProcessIdentity& process = waiter.environment.processes->self().identity;
  const auto sight = environment_.processes->look(process.pid);
  const Verdict verdict = rules::judge_process(process, sight, environment_.processes->self());
  if (verdict.liveness != Liveness::dead) return std::nullopt;
  return verdict.evidence;
}

Result<Grant> MemoryEngine::grant(memory::Waiter& waiter, memory::Slot& slot, const memory::Admission& admission) {
  const auto epoch = next_epoch();
  if (!epoch) return fail(epoch.error());
  const env::Environment& theirs = waiter.environment;
  Grant grant{.key = waiter.request.key, .claim = waiter.claim, .epoch = *epoch};
  grant.reclaimed = admission.own.has_value();

  std::vector<std::size_t> ending = admission.displaced;
  if (!ending.empty()) {
    grant.displaced = memory::Viewer(theirs).observe(grant.key, slot.holdings[ending.front()]);
    grant.displaced->why = admission.verdict.why;
  }
  if (admission.own) ending.push_back(*admission.own);
  std::sort(ending.rbegin(), ending.rend());  // from the back, so that indexes stay true
  std::optional<std::uint32_t> number;
  for (std::size_t index : ending) {
    const bool own = admission.own == index;
    if (own) number = slot.holdings[index].holder.slot;
    store_->remember(slot.holdings[index], EventKind::taken_over,
                     own ? "its own process and part claimed it again" : "taken over: " + admission.verdict.why);
    slot.holdings.erase(slot.holdings.begin() + static_cast<std::ptrdiff_t>(index));
  }

  if (!number && waiter.request.terms.slots > 1) number = memory::free_number(slot);
  slot.holdings.push_back(holding_of(waiter.request, theirs, number, grant));
  return grant;
}

memory::Holding MemoryEngine::holding_of(const ClaimRequest& request, const env::Environment& environment,
                                         std::optional<std::uint32_t> number, Grant& grant) {
  memory::Holding holding{.claim = grant.claim,
                          .epoch = grant.epoch,
                          .holder = holder_for(request, environment),
                          .terms = request.terms,
                          .extended_monotonic = environment.clock->monotonic(),
                          .extended_boot = environment.clock->boottime()};
  if (holding.terms.slots > 1) holding.holder.slot = grant.slot = number;
  if (holding.terms.ttl) grant.valid_until = holding.extended_boot + *holding.terms.ttl;
  return holding;
}

Result<Epoch> MemoryEngine::next_epoch() {
  const Epoch epoch(store_->highest_.value() + 1);
  if (!epoch.credible()) {
    return fail(Code::epoch_exhausted, "the epoch has reached its limit, " + Epoch(Epoch::kLimit).text());
  }
  store_->highest_ = epoch;
  return epoch;
}

Error MemoryEngine::refusal(const ClaimRequest& request, const memory::Slot& slot) const {
  const auto admission = memory::admit(slot, request, viewer_);
  const std::string& key = request.key.text();
  Observation seen = viewer_.observe(request.key, slot);
  Error error{Code::held, "", "wait for it, or ask its holder", nullptr};
  if (admission.granted) {
    error.message = key + " will go to those who wait in line before";
  } else {
    const memory::Holding& blocker = slot.holdings.at(admission.blocker.value_or(0));
    seen = viewer_.observe(request.key, blocker);
    seen.why = admission.verdict.why;
    seen.frees_in = admission.verdict.frees_in;
    error.message = key + " is held by " + blocker.holder.owner + ": " + admission.verdict.why;
    if (admission.verdict.answer == rules::ClaimVerdict::Answer::held_by_part) error.code = Code::held_by_part;
    if (admission.other_number) {
      error.code = Code::slots_differ;
      error.remedy = "ask for as many as the others do";
    }
  }
  error.holder = std::make_shared<const Observation>(std::move(seen));
  return error;
}

}  // namespace tenure
