// Guarded work: while the operation runs, the section of the key is held, so nobody can take the key over.
#include <mutex>
#include <utility>

#include "base/limits.h"
#include "engine/files/store.h"
#include "engine/watchdog.h"
#include "rules/fence.h"

namespace tenure::files {
namespace {

using Answer = rules::CurrentVerdict::Answer;

}  // namespace

// For as long as this process guards the key.
class Store::Guarding {
 public:
  Guarding(Store& store, const Key& key) : store_(store), key_(key) {
    std::lock_guard lock(store_.mutex_);
    store_.guarded_.insert(key_);
  }
  Guarding(const Guarding&) = delete;
  Guarding& operator=(const Guarding&) = delete;
  ~Guarding() { end(); }
  void end() {
    std::lock_guard lock(store_.mutex_);
    if (!std::exchange(ended_, true)) store_.guarded_.erase(key_);
  }

 private:
  Store& store_;
  const Key key_;
  bool ended_ = false;
};

bool Store::guards(const Key& key) {
  std::lock_guard lock(mutex_);
  return guarded_.contains(key);
}

Result<ClaimRef> Store::guarded_claim(const GuardRequest& request, const FileNames& names) {
  ClaimRef claim{request.key, request.claim.value_or(ClaimId{}), request.epoch};
  if (request.claim) return claim;
  auto look = viewer_.look(request.key, names);
  if (!look) return fail(look.error());
  if (!look->record) {
    std::lock_guard lock(mutex_);
    const auto kept = held_.find(request.key);
    if (kept != held_.end() && kept->second.epoch == request.epoch) claim.claim = kept->second.claim;
    return claim;
  }
  if (auto vouched = rules::epoch_current(viewer_.observe(*look), request.epoch); !vouched)
    return fail(vouched.error());
  const auto id = ClaimId::parse(look->record->claim_id);
  if (!id) {
    return fail(Code::unsupported, request.key.text() + " is held by a program that knows no guard",
                "act without one, or claim the key with tenure");
  }
  claim.claim = *id;
  return claim;
}

Result<void> Store::check_current(const ClaimRef& claim, const FileNames& names, const Section& section) {
  auto now = current(claim, names, &section);
  if (!now) return fail(now.error());
  if (now->verdict.answer == Answer::lost || now->verdict.answer == Answer::gone) return lost(claim, names, *now);
  if (now->verdict.answer == Answer::late) {
    return fail(Code::expired, claim.key.text() + " is past its TTL by " + words(now->verdict.late_by), "renew it");
  }
  return {};
}

Result<void> Store::give_up_guarded(Section& section, const ClaimRef& claim, const FileNames& names) {
  auto noted = write_note(section, {claim.epoch, SectionNote::State::revoked}, false);
  auto removed = directory_->remove(names.record);
  drop_held(claim);
  if (!removed) return fail(removed.error());
  return noted;
}

// Signs of life, as the holder's keeper would give them. Returns how long it took.
Duration Store::sign_under_guard(const Section& section, const ClaimRef& claim, const FileNames& names) {
  const MonotonicTime before = environment_.clock->monotonic();
  (void)sign_inside(section, claim, names, Extend::no);
  return environment_.clock->monotonic() - before;
}

Result<void> Store::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto checked = guarding::check(request, operation); !checked) return checked;
  if (auto own = check_change(request.key); !own) return own;
  const FileNames names = file_names(request.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  if (!section) return fail(section.error());
  const auto claim = guarded_claim(request, names);
  if (!claim) return fail(claim.error());
  if (auto begun = check_current(*claim, names, *section); !begun) return begun;
  Guarding guarding(*this, request.key);
  // At the bound the lease itself is given up, still inside the section: whoever comes next is fenced off from nothing.
  Result<void> given_up;
  const auto late = [&] {
    given_up = give_up_guarded(*section, *claim, names);
    guarding.end();
    section->lock.reset();
  };
  Watchdog watchdog;
  auto watched = watchdog.start(request.at_most, late, {traits_.heartbeat.value_or(limits::kLongestDuration), [&] {
                                                          return sign_under_guard(*section, *claim, names);
                                                        }});
  if (!watched) return watched;
  const auto own = [&] {
    const guarding::Inside inside(place(), request.key);
    return operation();
  }();
  if (watchdog.stop()) {
    Error error = guarding::past_bound(request, own);
    if (!given_up) error.message += " (its record could not be taken away: " + given_up.error().message + ")";
    return fail(std::move(error));
  }
  // Somebody who does not honour the section may have been there.
  if (auto still = check_current(*claim, names, *section); !still && still.error().code == Code::lost) {
    return fail(guarding::lost_meanwhile(request, still.error(), own));
  }
  return own;
}

}  // namespace tenure::files
