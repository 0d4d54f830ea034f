#include "lease/lease_state.h"

#include "lease/keeper.h"
#include "lease/space_state.h"

namespace tenure::detail {

LeaseState::LeaseState(std::shared_ptr<SpaceState> space, Grant grant, Stop lost_signal)
    : space_(std::move(space)),
      grant_(std::move(grant)),
      lost_signal_(std::move(lost_signal)),
      valid_until_(grant_.valid_until) {}

LeaseState::~LeaseState() = default;

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
  std::lock_guard lock(mutex_);
  if (loss_) return as_lost(*loss_);
  if (released_) return Error{Code::lost, "this handle on " + grant_.key.text() + " was released", "", nullptr};
  return std::nullopt;
}

void LeaseState::mark_lost(const Error& error) {
  std::function<void(const Loss&)> callback;
  Loss loss{error.message, error.holder};
  {
    std::lock_guard lock(mutex_);
    if (released_ || loss_) return;
    loss_ = loss;
    callback = std::move(callback_);
  }
  lost_.store(true, std::memory_order_release);
  lost_signal_.request();
  if (callback) callback(loss);
}

Result<void> LeaseState::verify() {
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
  valid_until_ = renewal->valid_until;
  return renewal->late_by;
}

Result<bool> LeaseState::release() {
  if (auto error = barred()) return fail(*error);
  {
    // From here on the keeper neither beats for it nor takes its end for a loss.
    std::lock_guard lock(mutex_);
    released_ = true;
  }
  space_->keeper().remove(this);
  auto released = space_->engine().release(ref());
  if (!released) return fail(released.error());
  return released->released;
}

Result<void> LeaseState::guard(Duration at_most, const std::function<void()>& operation) {
  if (auto error = barred()) return fail(*error);
  auto done = space_->engine().guard(ref(), at_most, operation);
  note_loss(done);
  if (!done && done.error().code == Code::unknown_outcome) mark_lost(done.error());
  return done;
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
  if (standing && standing->needs_beat) return beat();
  return !lost();
}

std::optional<Loss> LeaseState::loss() const {
  std::lock_guard lock(mutex_);
  return loss_;
}

void LeaseState::on_lost(std::function<void(const Loss&)> callback) {
  std::optional<Loss> already;
  {
    std::lock_guard lock(mutex_);
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
