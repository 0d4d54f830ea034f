// Giving a lease back, and taking it away.
#include "base/limits.h"
#include "engine/check_request.h"
#include "engine/files/store.h"

namespace tenure::files {
namespace {

using Answer = rules::CurrentVerdict::Answer;

std::string one_line(const Observation& seen) {
  if (!seen.holder) return seen.note;
  return seen.holder->owner + " (pid " + std::to_string(seen.holder->process.pid) + " on " + seen.holder->host +
         "): " + seen.verdict.evidence;
}

}  // namespace

Result<Released> Store::release(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  const FileNames names = file_names(claim.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  // Whatever comes: the caller has given up the lease. Without the life lock others can prove it over.
  if (!section) {
    drop_held(claim);
    return fail(section.error());
  }
  auto now = current(claim, names, &*section);
  if (!now) {
    drop_held(claim);
    return fail(now.error());
  }
  if (now->verdict.answer == Answer::lost) return lost(claim, names, *now);
  if (now->verdict.answer == Answer::gone) {
    drop_held(claim);
    return Released{false};
  }
  auto noted = write_note(*section, {claim.epoch, SectionNote::State::free}, false);
  auto removed = now->look.damage.empty() ? directory_->remove(names.record) : Result<bool>(false);
  if (!now->look.damage.empty()) {
    auto aside = put_aside(names, names.record);
    if (!aside) removed = fail(aside.error());
  }
  drop_held(claim);
  if (!removed) return fail(removed.error());
  if (!noted) return fail(noted.error());
  return Released{true};
}

Result<void> Store::write_revocation(const FileNames& names, const RevokeRequest& request, const Observation& was) {
  const Standpoint& self = environment_.processes->self();
  Revocation revocation;
  revocation.epoch = was.epoch;
  revocation.reason = request.reason;
  revocation.by_user = self.user_name;
  revocation.by_host = self.host;
  revocation.by_pid = self.identity.pid;
  revocation.by_command = self.command;
  revocation.forced = request.force;
  revocation.at_ms = environment_.clock->wall().milliseconds();
  revocation.was = one_line(was);
  return directory_->replace(names.revoked, names.temporary, encode(revocation), true);
}

Result<std::string> Store::repair_epoch(Section& section, const FileNames& names, const Look& look) {
  rules::EpochSources sources;
  sources.counter = section.counter;
  sources.note = section.note_epoch;
  if (look.record) sources.record = {rules::EpochSource::Reading::value, Epoch(look.record->epoch)};
  sources.now = environment_.clock->wall();
  auto repaired = rules::repaired_epoch(sources);
  if (!repaired) return fail(repaired.error());
  if (auto noted = write_note(section, {repaired->epoch, SectionNote::State::free}, true); !noted) {
    return fail(noted.error());
  }
  if (auto counted = write_counter(section, names, repaired->epoch); !counted) return fail(counted.error());
  return repaired->note.empty() ? "the epoch counter was set to " + repaired->epoch.text() : repaired->note;
}

Result<Revoked> Store::revoke(const RevokeRequest& request) {
  if (auto own = check_process(); !own) return fail(own.error());
  if (auto text = check_text("reason", request.reason, limits::kReasonBytes, true); !text) return fail(text.error());
  const FileNames names = file_names(request.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  if (!section) return fail(section.error());
  auto look = viewer_.look(request.key, names);
  if (!look) return fail(look.error());
  Revoked revoked{viewer_.observe(*look), {}};
  const auto next = epoch_of_grant(*section, *look, false);
  const bool stuck = !next && next.error().code == Code::epoch_unreadable;
  const bool nobody = look->occupant.kind == rules::Occupant::Kind::nobody;
  const auto verdict = rules::decide_revoke(look->occupant, options_.expiry, revoked.was.epoch, request.force,
                                            request.reason, request.only_epoch);
  const bool repair_alone = nobody && stuck && request.force && !request.reason.empty();
  if (!verdict.allowed && !repair_alone) {
    Error error{verdict.code, request.key.text() + ": " + verdict.why, "", nullptr};
    error.holder = std::make_shared<const Observation>(revoked.was);
    return fail(std::move(error));
  }
  if (auto written = write_revocation(names, request, revoked.was); !written) return fail(written.error());
  if (stuck) {
    auto note = repair_epoch(*section, names, *look);
    if (!note) return fail(note.error());
    revoked.notes.push_back(*note);
  }
  if (nobody) return revoked;
  const Epoch epoch = stuck ? section->note.epoch : std::max(revoked.was.epoch, section->note.epoch);
  if (auto noted = write_note(*section, {epoch, SectionNote::State::revoked}, true); !noted) return fail(noted.error());
  if (look->damage.empty()) {
    auto removed = directory_->remove(names.record);
    if (!removed) return fail(removed.error());
  } else {
    if (auto aside = put_aside(names, names.record); !aside) return fail(aside.error());
    revoked.notes.push_back("the damaged record was kept as " + names.stem + ".evidence-*");
  }
  if (auto synced = directory_->sync(); !synced) return fail(synced.error());
  return revoked;
}

}  // namespace tenure::files
