#include "tenure/pending_claim.h"

#include <optional>
#include <thread>
#include <utility>

#include "base/process_mark.h"
#include "base/quiet_thread.h"
#include "tenure/space.h"

namespace tenure {

struct PendingClaim::Claim {
  Claim(Space a_space, Key a_key, ClaimOptions some_options, Stop to_cancel, Stop to_tell)
      : space(std::move(a_space)),
        key(std::move(a_key)),
        options(std::move(some_options)),
        cancelled(std::move(to_cancel)),
        over(std::move(to_tell)) {
    options.stop = &cancelled;
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (!thread.joinable()) return;
    cancelled.request();
    thread.join();
  }

  void run() {
    outcome = space.claim(key, options);
    over.request();
  }

  const Space space;
  const Key key;
  ClaimOptions options;
  const Stop cancelled;
  const Stop over;
  std::optional<Result<Lease>> outcome;  // of the thread, until it has ended
  const base::ProcessMark mark;
  std::thread thread;
};

PendingClaim::PendingClaim(std::unique_ptr<Claim> claim) : claim_(std::move(claim)) {}
PendingClaim::PendingClaim(PendingClaim&&) noexcept = default;

PendingClaim& PendingClaim::operator=(PendingClaim&& other) noexcept {
  std::swap(claim_, other.claim_);
  return *this;
}

PendingClaim::~PendingClaim() {
  // In a forked child there is no such thread to wait for: what it may have been using is left alone.
  if (claim_ && !claim_->mark.same()) static_cast<void>(claim_.release());
}

int PendingClaim::fd() const noexcept {
  return claim_->over.descriptor();
}

bool PendingClaim::ended() const noexcept {
  return claim_->over.requested();
}

void PendingClaim::cancel() const noexcept {
  claim_->cancelled.request();
}

Result<Lease> PendingClaim::take() {
  if (!claim_->mark.same()) {
    return fail(Code::wrong_process, "this pending claim was inherited by fork", "claim in this process");
  }
  if (!claim_->thread.joinable()) return fail(Code::usage, "the outcome of this claim was taken already");
  claim_->thread.join();
  return std::move(*claim_->outcome);
}

Result<PendingClaim> Space::begin_claim(const Key& key, const ClaimOptions& options) const {
  if (options.stop != nullptr) {
    return fail(Code::usage, "a pending claim is ended by PendingClaim::cancel(): leave ClaimOptions::stop out");
  }
  auto cancelled = Stop::create();
  if (!cancelled) return fail(cancelled.error());
  auto over = Stop::create();
  if (!over) return fail(over.error());
  auto claim = std::make_unique<PendingClaim::Claim>(*this, key, options, std::move(*cancelled), std::move(*over));
  auto thread = base::quiet_thread([raw = claim.get()] { raw->run(); });
  if (!thread) return fail(thread.error());
  claim->thread = std::move(*thread);
  return PendingClaim(std::move(claim));
}

}  // namespace tenure
