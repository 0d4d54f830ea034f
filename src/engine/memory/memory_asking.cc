// Asking a holder to yield: who asks waits here, named by the lease, until the holder answers or the lease ends.
#include <algorithm>

#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/memory/memory_client.h"

namespace tenure {
namespace {

constexpr std::chrono::milliseconds kLookAgain{5};  // at the clock, at the Stop, at whether the holder lives

Ask ask_of(const AskRequest& request, const env::Environment& environment, std::uint64_t id) {
  const Standpoint& self = environment.processes->self();
  const WallTime now = environment.clock->wall();
  return {.id = id,
          .by = request.by,
          .reason = request.reason,
          .user_name = self.user_name,
          .command = self.command,
          .process = self.identity,
          .since = now,
          .until = now + request.deadline};
}

}  // namespace

memory::Holding* MemoryEngine::holding_of(const ClaimRef& claim) {
  const auto found = store_->slots_.find(claim.key);
  if (found == store_->slots_.end()) return nullptr;
  auto& holdings = found->second.holdings;
  const auto held = std::ranges::find(holdings, claim.claim, &memory::Holding::claim);
  return held == holdings.end() ? nullptr : &*held;
}

void MemoryEngine::drop_stale_asks(memory::Holding& holding) {
  std::erase_if(holding.asks, [&](memory::Asker* asker) {
    if (viewer_.asking(*asker)) return false;
    asker->end(Became::ignored, EventKind::released, "");
    return true;
  });
}

Result<memory::Holding*> MemoryEngine::enter_asks(memory::Asker& asker, const AskRequest& request) {
  const auto found = store_->slots_.find(request.key);
  if (found != store_->slots_.end()) end_overdue(request.key, found->second);
  if (found == store_->slots_.end() || found->second.holdings.empty()) {
    return fail(Code::not_held, "nobody holds " + request.key.text(), "claim it");
  }
  for (memory::Holding& holding : found->second.holdings) {
    asker.was = viewer_.observe(request.key, holding);
    if (asker.was.claimable) continue;
    drop_stale_asks(holding);
    if (holding.asks.size() >= limits::kAsksAtOnce) {
      return fail(Code::limit_reached,
                  "at most " + std::to_string(limits::kAsksAtOnce) +
                      " may ask for one lease at a time, and so many ask for that of " + request.key.text() +
                      " already",
                  "ask again when one of them has its answer");
    }
    asker.ask = ask_of(request, environment_, ++store_->last_ask_);
    holding.asks.push_back(&asker);
    return &holding;
  }
  return fail(Error{Code::not_held, "there is nobody to ask for " + request.key.text() + ": " + asker.was.why,
                    "claim it: a claim succeeds now", std::make_shared<const Observation>(asker.was)});
}

Result<Asked> MemoryEngine::wait_for_answer(std::unique_lock<std::mutex>& lock, memory::Asker& asker,
                                            const ClaimRef& asked, const Stop* stop) {
  while (true) {
    if (asker.outcome) return *asker.outcome;
    // It names us, so it is there.
    memory::Holding& holding = *holding_of(asked);
    const Observation now = viewer_.observe(asked.key, holding);
    if (now.verdict.liveness == Liveness::dead) {
      asker.end(Became::ended, EventKind::lost, "its holder is dead: " + now.verdict.evidence);
    } else if (environment_.clock->monotonic() >= asker.until) {
      asker.end(Became::ignored, EventKind::released, "");
    } else if (viewer_.back_to_line(holding)) {
      end_overdue(asked.key, store_->slots_.at(asked.key));
      continue;
    } else if (stop != nullptr && stop->requested()) {
      std::erase(holding.asks, &asker);
      return fail(Code::cancelled, "the request for " + asked.key.text() + " was taken back");
    } else {
      store_->changed_.wait_for(lock, kLookAgain);
      continue;
    }
    std::erase(holding.asks, &asker);
  }
}

Result<Asked> MemoryEngine::ask(const AskRequest& request) {
  if (auto own = check_process(); !own) return fail(own.error());
  if (auto checked = check_ask(request, traits_); !checked) return fail(checked.error());
  std::unique_lock lock(store_->mutex_);
  memory::Asker asker{.ask = {},
                      .environment = environment_,
                      .until = environment_.clock->monotonic() + request.deadline,
                      .was = Observation{.key = request.key}};
  const auto holding = enter_asks(asker, request);
  if (!holding) return fail(holding.error());
  const ClaimRef asked{request.key, (*holding)->claim, (*holding)->epoch};
  store_->announce(request.key);
  auto became = wait_for_answer(lock, asker, asked, request.stop);
  store_->announce(request.key);
  return became;
}

Result<std::vector<Ask>> MemoryEngine::asks(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  drop_stale_asks(mine->holding);
  std::vector<Ask> pending;
  for (const memory::Asker* asker : mine->holding.asks) pending.push_back(asker->ask);
  return pending;
}

Result<bool> MemoryEngine::answer(const ClaimRef& claim, std::uint64_t id, Answer answer, const std::string& words) {
  if (auto own = check_process(); !own) return fail(own.error());
  if (auto checked = check_answer(words); !checked) return fail(checked.error());
  std::lock_guard lock(store_->mutex_);
  auto mine = current(claim);
  if (!mine) return fail(mine.error());
  drop_stale_asks(mine->holding);
  auto& asks = mine->holding.asks;
  const auto found = std::ranges::find_if(asks, [&](const memory::Asker* asker) { return asker->ask.id == id; });
  if (found == asks.end()) return false;
  const bool accepted = answer == Answer::accept;
  (*found)->end(accepted ? Became::accepted : Became::declined, EventKind::released, words);
  asks.erase(found);
  store_->announce(claim.key);
  return true;
}

}  // namespace tenure
