// Giving a lease back, and taking it away.
#include <algorithm>

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

// The store cannot be written, and the caller has given up the lease all the same: without the life lock others can
// prove it over, whatever the record says. A handle of another process's lease has no such lock, and changes nothing.
Error Store::given_up(const ClaimRef& claim, Error error) {
  if (!held(claim)) return error;
  drop_held(claim);
  return Error{Code::unknown_outcome,
               "the record of " + claim.key.text() + " may still be there (" + error.message +
                   "); its life lock was let go, so the lease counts as over",
               "nothing needs to be done: the next claimant takes it over", nullptr};
}

Result<Released> Store::release(const ClaimRef& claim) {
  if (auto own = check_change(claim.key); !own) return fail(own.error());
  const FileNames names = file_names(claim.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  if (!section && guards(claim.key)) return fail(guarding::busy(claim.key));
  if (!section) return fail(given_up(claim, section.error()));
  auto now = current(claim, names, &*section);
  if (!now) return fail(given_up(claim, now.error()));
  if (now->verdict.answer == Answer::lost) return lost(claim, names, *now);
  if (now->verdict.answer == Answer::gone) {
    drop_held(claim);
    return Released{false};
  }
  auto cleared = clear(*section, names, {claim.epoch, SectionNote::State::free}, now->look);
  if (!cleared) return fail(given_up(claim, cleared.error()));
  drop_held(claim);
  return Released{true};
}

// Takes the record away: the note first, so that nobody takes its absence for a cleaner's work.
Result<void> Store::clear(Section& section, const FileNames& names, const SectionNote& note, const Look& look) {
  const SectionNote before = section.note;
  const bool durable = note.state == SectionNote::State::revoked;
  if (auto noted = write_note(section, note, durable); !noted) return noted;
  Result<void> gone;
  if (look.missing) return {};
  if (look.damage.empty()) {
    auto removed = directory_->remove(names.record);
    if (!removed) gone = fail(removed.error());
  } else {
    gone = put_aside(names, names.record);
  }
  if (gone) return gone;
  auto content = directory_->read(names.record, kMaxRecordBytes);
  if (content && !*content) {
    return fail(Code::unknown_outcome, "the record was taken away, and yet: " + gone.error().message);
  }
  (void)write_note(section, before, durable);
  return gone;
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
  if (auto own = check_change(request.key); !own) return fail(own.error());
  if (auto text = check_text("reason", request.reason, limits::kReasonBytes, true); !text) return fail(text.error());
  const FileNames names = file_names(request.key);
  auto section = enter(names, limits::kSectionWait, nullptr, request.force ? Unread::is_damage : Unread::is_unknown);
  if (!section) return fail(section.error());
  auto look = look_inside(*section, request.key, names);
  if (!look) return fail(look.error());
  Revoked revoked{viewer_.observe(*look), {}};
  // Of what cannot be read the counter tells the epoch, as it does in every look.
  if (!look->record && section->counter.reading == rules::EpochSource::Reading::value) {
    revoked.was.epoch = section->counter.epoch;
  }
  const auto next = epoch_of_grant(*section, *look, false);
  // A counter that can be no more than looked at is in the way of every claim, whatever its copy says.
  const bool closed = section->counter.reading == rules::EpochSource::Reading::unreadable && !section->counter_file;
  const bool stuck = (!next && next.error().code == Code::epoch_unreadable) || (request.force && closed);
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
  auto done = take_away(*section, names, *look, stuck, revoked);
  if (!done && done.error().code != Code::unknown_outcome) (void)directory_->remove(names.revoked);
  if (!done) return fail(done.error());
  return revoked;
}

Result<void> Store::take_away(Section& section, const FileNames& names, const Look& look, bool stuck,
                              Revoked& revoked) {
  if (stuck) {
    auto note = repair_epoch(section, names, look);
    if (!note) return fail(note.error());
    revoked.notes.push_back(*note);
  }
  if (look.occupant.kind == rules::Occupant::Kind::nobody) return {};
  const Epoch epoch = stuck ? section.note.epoch : std::max(revoked.was.epoch, section.note.epoch);
  if (auto cleared = clear(section, names, {epoch, SectionNote::State::revoked}, look); !cleared) return cleared;
  if (!look.damage.empty() && !look.missing) {
    revoked.notes.push_back("the damaged record was kept as " + names.stem + ".evidence-*");
  }
  auto synced = directory_->sync();
  if (synced) return {};
  return fail(
      Code::unknown_outcome,
      look.key.text() + " was taken away, but a loss of power may bring its record back: " + synced.error().message);
}

}  // namespace tenure::files
