// A lease that others ask for, and that is handed over.
#include <algorithm>

#include "lease/lease_state.h"
#include "lease/space_state.h"

namespace tenure::detail {

// Who is told of requests, and of which ones already.
class LeaseState::AskListener {
 public:
  AskListener(ClaimRef of, std::function<void(const Ask&)> callback)
      : of_(std::move(of)), callback_(std::move(callback)) {}

  bool is_of(const ClaimRef& ref) const { return of_.claim == ref.claim; }

  // Asked and remembered in one, so that two threads that look at once do not tell twice.
  void tell(Engine& engine) {
    std::vector<Ask> fresh;
    {
      const std::lock_guard lock(mutex_);
      auto pending = engine.asks(of_);
      if (!pending) return;
      std::vector<std::uint64_t> now;
      for (Ask& ask : *pending) {
        now.push_back(ask.id);
        if (std::ranges::find(told_, ask.id) == told_.end()) fresh.push_back(std::move(ask));
      }
      told_ = std::move(now);
    }
    for (const Ask& ask : fresh) callback_(ask);
  }

 private:
  const ClaimRef of_;
  const std::function<void(const Ask&)> callback_;
  std::mutex mutex_;
  std::vector<std::uint64_t> told_;  // of those that are pending: bounded as they are
};

void LeaseState::tell_asks(Engine& engine, const ClaimRef& ref) {
  std::shared_ptr<AskListener> listener;
  {
    const std::lock_guard lock(mutex_);
    listener = listener_;
  }
  if (listener && listener->is_of(ref)) listener->tell(engine);
}

Result<void> LeaseState::on_ask(std::function<void(const Ask&)> callback) {
  if (auto error = barred()) return fail(*error);
  Engine& engine = space_->engine();
  // What the engine cannot do, it says itself.
  if (auto offered = engine.asks(ref()); !offered) {
    note_loss(offered);
    return fail(offered.error());
  }
  if (!engine.call_with_descriptors()) {
    return fail(Code::limit_reached, "no thread can be had to tell of requests", "end some processes or threads");
  }
  {
    const std::lock_guard lock(mutex_);
    plain_ = false;
    listener_ = std::make_shared<AskListener>(ref(), std::move(callback));
  }
  tell_asks(engine, ref());
  return {};
}

Result<std::vector<Ask>> LeaseState::asks() {
  if (auto error = barred()) return fail(*error);
  auto pending = space_->engine().asks(ref());
  note_loss(pending);
  return pending;
}

Result<bool> LeaseState::answer(std::uint64_t id, Answer answer, const std::string& words) {
  if (auto error = barred()) return fail(*error);
  auto answered = space_->engine().answer(ref(), id, answer, words);
  note_loss(answered);
  return answered;
}

Result<void> LeaseState::hand_off(const HandOff& offer) {
  if (auto error = barred()) return fail(*error);
  auto offered = space_->engine().hand_off(ref(), offer);
  note_loss(offered);
  return offered;
}

Result<bool> LeaseState::withdraw_hand_off() {
  if (auto error = barred()) return fail(*error);
  auto withdrawn = space_->engine().withdraw_hand_off(ref());
  note_loss(withdrawn);
  return withdrawn;
}

}  // namespace tenure::detail

namespace tenure {

Result<void> Lease::on_ask(std::function<void(const Ask&)> callback) {
  return state_->on_ask(std::move(callback));
}
Result<std::vector<Ask>> Lease::asks() {
  return state_->asks();
}
Result<bool> Lease::answer(std::uint64_t id, Answer answer, const std::string& words) {
  return state_->answer(id, answer, words);
}
Result<void> Lease::hand_off(const HandOff& offer) {
  return state_->hand_off(offer);
}
Result<bool> Lease::withdraw_hand_off() {
  return state_->withdraw_hand_off();
}

}  // namespace tenure
