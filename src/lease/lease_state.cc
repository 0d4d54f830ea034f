#include "lease/lease_state.h"

#include <thread>

#include "lease/guarded.h"
#include "lease/space_state.h"

namespace tenure::detail {

void LeaseState::begin(std::shared_ptr<SpaceState> space, Grant grant, std::optional<Stop> lost_signal) {
  std::lock_guard lock(mutex_);
  mark_ = base::ProcessMark{};
  if (short_way_ != nullptr) short_way_->give_back_place(short_grant_);
  space_ = std::move(space);
  short_way_ = space_->short_way();
  short_grant_ = {grant.claim, grant.epoch, grant.place};
  grant_ = std::move(grant);
  valid_until_ = grant_.valid_until;
  lost_signal_ = std::move(lost_signal);
  plain_ = false;
  phase_.store(Phase::held, std::memory_order_release);
}

bool LeaseState::begin_short(SpaceState& space, ShortWay& short_way, const Key& key) {
  if (!short_way.claim(key, short_grant_)) return false;
  if (!mark_.same()) mark_ = base::ProcessMark{};
  if (space_.get() != &space) space_ = space.shared_from_this();
  grant_.key = key;
  grant_.claim = short_grant_.claim;
  grant_.epoch = short_grant_.epoch;
  short_way_ = &short_way;
  phase_.store(Phase::held, std::memory_order_release);
  return true;
}

void LeaseState::end() {
  // The phase was left by an atomic exchange, or never entered; an onlooker counts itself before it reads the phase.
  while (onlookers_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  if (phase_.load(std::memory_order_relaxed) == Phase::lost) short_grant_.place = 0;
  phase_.store(Phase::idle, std::memory_order_release);
  if (!plain_) {
    std::lock_guard lock(mutex_);
    grant_.displaced.reset();
    grant_.notes.clear();
    grant_.valid_until.reset();
    grant_.reclaimed = false;
    grant_.slot.reset();
    grant_.life_descriptor = -1;
    lost_signal_.reset();
    loss_.reset();
    callback_ = nullptr;
    listener_.reset();
    valid_until_.reset();
    plain_ = true;
  }
}

std::shared_ptr<SpaceState> LeaseState::let_go() {
  if (space_ && space_->short_way() != nullptr) space_->short_way()->give_back_place(short_grant_);
  return std::move(space_);
}

void LeaseState::drop(std::shared_ptr<LeaseState> state) {
  if (!state->mark_.same()) {
    new std::shared_ptr<LeaseState>(std::move(state));
    return;
  }
  SpaceState& space = *state->space_;
  if (!space.pooled()) return;  // the keeper may still have it
  state->end();
  space.pool().put(std::move(state));
}

int LeaseState::lost_descriptor() {
  if (space_ && mark_.same() && !space_->engine().call_with_descriptors()) return -1;
  std::lock_guard lock(mutex_);
  if (!lost_signal_) {
    auto made = Stop::create();
    if (!made) return -1;
    plain_ = false;
    lost_signal_ = std::move(*made);
    if (lost()) lost_signal_->request();
  }
  return lost_signal_->descriptor();
}

Error LeaseState::as_lost(const Loss& loss) const {
  return Error{Code::lost, loss.why, "claim it again if the work is still to be done", loss.successor};
}

std::optional<Error> LeaseState::barred() const {
  if (!mark_.same()) {
    return Error{Code::wrong_process,
                 "this handle on " + grant_.key.text() +
                     " was inherited by fork; a lease belongs to the process that claimed it",
                 "claim it in this process", nullptr};
  }
  switch (phase_.load(std::memory_order_acquire)) {
    case Phase::held:
      return std::nullopt;
    case Phase::lost: {
      std::lock_guard lock(mutex_);
      return as_lost(loss_.value_or(Loss{}));
    }
    default:
      return Error{Code::lost, "this handle on " + grant_.key.text() + " was released", "", nullptr};
  }
}

std::function<void(const Loss&)> LeaseState::set_lost(const Loss& loss) {
  std::lock_guard lock(mutex_);
  if (loss_) return nullptr;
  loss_ = loss;
  plain_ = false;
  Phase held = Phase::held;
  if (!phase_.compare_exchange_strong(held, Phase::lost)) {
    loss_.reset();
    return nullptr;
  }
  if (lost_signal_) lost_signal_->request();
  return std::move(callback_);
}

void LeaseState::mark_lost(const Error& error) {
  const Loss loss{error.message, error.holder};
  if (const auto callback = set_lost(loss)) callback(loss);
}

Result<void> LeaseState::verify() {
  const bool ours = mark_.same() && phase_.load(std::memory_order_acquire) == Phase::held;
  if (ours && short_way_ != nullptr && short_grant_.place != 0 && short_way_->current(short_grant_)) return {};
  if (auto error = barred()) return fail(*error);
  auto standing = space_->engine().verify(ref());
  note_loss(standing);
  if (!standing) return fail(standing.error());
  return {};
}

Result<std::optional<Duration>> LeaseState::renew() {
  if (auto error = barred()) return fail(*error);
  auto renewal = space_->engine().renew(ref());
  note_loss(renewal);
  if (!renewal) return fail(renewal.error());
  std::lock_guard lock(mutex_);
  plain_ = false;
  valid_until_ = renewal->valid_until;
  return renewal->late_by;
}

Result<bool> LeaseState::release() {
  // From here on nobody beats for it, nor takes its end for a loss.
  Phase held = Phase::held;
  if (!mark_.same() || !phase_.compare_exchange_strong(held, Phase::released, std::memory_order_acq_rel)) {
    return fail(barred().value_or(Error{Code::lost, "this handle was released by another thread", "", nullptr}));
  }
  if (short_way_ != nullptr && short_grant_.place != 0 && short_way_->release(short_grant_)) return true;
  short_grant_.place = 0;  // whatever becomes of it, it is not ours to use again
  space_->keeper().remove(this);
  auto released = space_->engine().release(ref());
  if (!released) {
    const Code code = released.error().code;
    if (code == Code::section_busy || code == Code::would_deadlock) stay();
    return fail(released.error());
  }
  return released->released;
}

// It could not be given back, and is ours as it was.
void LeaseState::stay() {
  phase_.store(Phase::held, std::memory_order_release);
  if (space_->pooled()) return look(space_->engine());  // what was told meanwhile was not heard
  (void)space_->keeper().add(shared_from_this());       // its thread runs already
}

Result<void> LeaseState::guard(Duration at_most, const Guarded& operation) {
  if (auto error = barred()) return fail(*error);
  const ClaimRef mine = ref();
  const auto end = lease::run_guarded(space_->engine(), {mine.key, mine.epoch, mine.claim, at_most}, operation);
  // The error may be the operation's own, about something else.
  const bool in_doubt = !end.done && facts(end.done.error().code).outcome != Outcome::refused;
  if (in_doubt || end.thrown) note_loss(space_->engine().verify(mine));
  return end.answer();
}

bool LeaseState::beat() {
  if (barred()) return false;
  auto renewal = space_->engine().beat(ref());
  note_loss(renewal);
  return !lost();
}

bool LeaseState::check() {
  if (barred()) return false;
  auto standing = space_->engine().verify(ref());
  note_loss(standing);
  if (standing) tell_asks(space_->engine(), ref());
  if (standing && standing->needs_beat) return beat();
  return !lost();
}

void LeaseState::look(Engine& engine) {
  // Calls `use` while this object stays the lease that it is, if it is one.
  const auto as_it_is = [this](const auto& use) {
    onlookers_.fetch_add(1, std::memory_order_seq_cst);
    if (phase_.load(std::memory_order_seq_cst) == Phase::held) use();
    onlookers_.fetch_sub(1, std::memory_order_seq_cst);
  };
  std::optional<ClaimRef> seen;
  as_it_is([&] { seen = ref(); });
  if (!seen) return;
  const auto standing = engine.verify(*seen);
  if (standing) return tell_asks(engine, *seen);
  if (standing.error().code != Code::lost) return;
  const Loss loss{standing.error().message, standing.error().holder};
  std::function<void(const Loss&)> callback;
  as_it_is([&] {
    if (grant_.claim == seen->claim) callback = set_lost(loss);
  });
  if (callback) callback(loss);
}

std::optional<Loss> LeaseState::loss() const {
  std::lock_guard lock(mutex_);
  return loss_;
}

void LeaseState::on_lost(std::function<void(const Loss&)> callback) {
  // Without a further thread it is called by whoever notes the loss.
  if (space_ && mark_.same()) (void)space_->engine().call_with_descriptors();
  std::optional<Loss> already;
  {
    std::lock_guard lock(mutex_);
    plain_ = false;
    if (!loss_) {
      callback_ = std::move(callback);
      return;
    }
    already = loss_;
  }
  callback(*already);
}

std::optional<BootTime> LeaseState::valid_until() const {
  std::lock_guard lock(mutex_);
  return valid_until_;
}

}  // namespace tenure::detail
