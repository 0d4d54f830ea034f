// Guarded work: while the operation runs, the section of the key is held, so nobody can take the key over.
#include "base/limits.h"
#include "engine/files/store.h"
#include "engine/guarding.h"
#include "engine/watchdog.h"
#include "rules/fence.h"

namespace tenure::files {
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
    return fail(Code::unsupported, request.key.text() + " is held by a program that honours no guard");
  }
  claim.claim = *id;
  return claim;
}

Result<void> Store::guard(const GuardRequest& request, const Guarded& operation) {
  if (auto own = check_process(); !own) return own;
  const FileNames names = file_names(request.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  if (!section) return fail(section.error());
  const auto claim = guarded_claim(request, names);
  if (!claim) return fail(claim.error());
  auto now = current(*claim, names, &*section);
  if (!now) return fail(now.error());
  using Answer = rules::CurrentVerdict::Answer;
  if (now->verdict.answer == Answer::lost || now->verdict.answer == Answer::gone) return lost(*claim, names, *now);
  if (now->verdict.answer == Answer::late) return fail(Code::expired, request.key.text() + " is past its TTL");
  // At the bound the lease itself is given up, still inside the section: whoever comes next is fenced off from nothing.
  Watchdog watchdog;
  auto watched = watchdog.start(guarding::bound_of(request), [&] {
    (void)write_note(*section, {request.epoch, SectionNote::State::revoked}, false);
    (void)directory_->remove(names.record);
    drop_held(*claim);
    section->lock.reset();
  });
  if (!watched) return watched;
  auto own = operation();
  if (!watchdog.stop()) return own;
  return fail(guarding::past_bound(request, own));
}

}  // namespace tenure::files
