// Claiming a key.
#include <algorithm>

#include "engine/files/store.h"
#include "rules/liveness.h"

namespace tenure::files {
namespace {

constexpr int kMaxEvidence = 8;

Result<ClaimId> fresh_claim(env::Random& random) {
  std::array<std::uint8_t, 16> bytes{};
  if (auto filled = random.fill(bytes); !filled) return fail(filled.error());
  return ClaimId(bytes);
}

Error with_holder(Error error, Observation seen) {
  error.holder = std::make_shared<const Observation>(std::move(seen));
  return error;
}

}  // namespace

std::unexpected<Error> Store::refused(const Look& look, const rules::ClaimVerdict& verdict) const {
  Observation seen = viewer_.observe(look);
  const bool part = verdict.answer == rules::ClaimVerdict::Answer::held_by_part;
  Error error{part ? Code::held_by_part : Code::held, "", "", nullptr};
  if (seen.state == State::damaged) {
    error.message = look.key.text() + " counts as held: " + verdict.why;
    error.remedy = "wait, or take it away by force and with a reason";
  } else {
    error.message = look.key.text() + " is held by " + look.occupant.owner + ": " + verdict.why;
    error.remedy = "wait for it, or ask its holder";
  }
  seen.claimable = false;
  seen.why = verdict.why;
  seen.frees_in = verdict.frees_in;
  return fail(with_holder(std::move(error), std::move(seen)));
}

Result<Grant> Store::claim(const ClaimRequest& request, const Stop* stop, Duration section_wait) {
  if (auto own = check_change(request.key); !own) return fail(own.error());
  const FileNames names = file_names(request.key);
  const rules::Claimant claimant{request.owner, request.part, environment_.processes->self().identity};
  auto claim = fresh_claim(*environment_.random);
  if (!claim) return fail(claim.error());

  // A glance without the lock first: who only waits must not stand in the way of who renews or releases.
  auto glance = viewer_.look(request.key, names);
  if (!glance) return fail(glance.error());
  const auto likely = rules::decide_claim(options_.expiry, glance->occupant, claimant);
  if (!likely.granted() && !viewer_.remember(*glance, names)) return refused(*glance, likely);

  auto section = enter(names, section_wait, stop);
  if (!section) return fail(section.error());
  auto look = look_inside(*section, request.key, names);
  if (!look) return fail(look.error());
  const auto verdict = rules::decide_claim(options_.expiry, look->occupant, claimant);
  if (!verdict.granted()) {
    if (viewer_.remember(*look, names)) viewer_.keep(*look, names);
    return refused(*look, verdict);
  }
  return grant(*section, names, request, *look, verdict, *claim);
}

Result<std::shared_ptr<env::LifeLock>> Store::take_life(const FileNames& names, const ClaimRequest& request,
                                                        bool reclaim) {
  if (reclaim && !request.keep_life_descriptor) {
    std::lock_guard lock(mutex_);
    const auto found = held_.find(request.key);
    if (found != held_.end()) return found->second.life;
  }
  auto life = directory_->take_life(names.life, names.temporary, false, request.keep_life_descriptor);
  if (!life && life.error().code != Code::held && life.error().code != Code::damaged) return fail(life.error());
  if (!life) {
    // Somebody whose lease is over still has the old file locked, or it is no file at all: that one goes out of the
    // way.
    if (life.error().code == Code::damaged) {
      if (auto aside = put_aside(names, names.life); !aside) return fail(aside.error());
    }
    life = directory_->take_life(names.life, names.temporary, true, request.keep_life_descriptor);
    if (!life) return fail(life.error());
  }
  return std::shared_ptr<env::LifeLock>(std::move(*life));
}

// A file of life that was put under the name for a claim which failed: from now on it speaks for the former one, whose
// own file nobody can find any more.
void Store::adopt_life(const Key& key, std::shared_ptr<env::LifeLock> life) {
  std::lock_guard lock(mutex_);
  const auto found = held_.find(key);
  if (found != held_.end()) found->second.life = std::move(life);
}

LeaseRecord Store::record_of(const ClaimRequest& request, const ClaimId& claim, Epoch epoch, const env::LifeLock& life,
                             BootTime before) const {
  const Standpoint& self = environment_.processes->self();
  LeaseRecord record;
  record.instance_id = request.key.text();
  record.owner_boot_id = request.owner;
  record.block_id = request.part;
  if (!request.session.empty()) record.session_id = request.session;
  record.pid = static_cast<std::uint32_t>(self.identity.pid);
  record.acquired_at_ms = environment_.clock->wall().milliseconds();
  record.renewed_at_ms = record.acquired_at_ms;
  record.epoch = epoch.value();
  record.hostname = self.host;
  record.channel = request.channel;
  record.version = request.version;
  record.claim_id = claim.text();
  LeaseExtra extra;
  extra.process = self.identity;
  extra.owner_process = request.owner_process;
  extra.life = life.identity();
  extra.renewed_monotonic = environment_.clock->monotonic();
  extra.renewed_boot = before;
  extra.extended_monotonic = extra.renewed_monotonic;
  extra.extended_boot = before;
  extra.terms = request.terms;
  extra.user_name = self.user_name;
  extra.command = request.command.empty() ? self.command : request.command;
  extra.directory = request.directory.empty() ? self.directory : request.directory;
  record.extra = std::move(extra);
  return record;
}

Result<Grant> Store::grant(Section& section, const FileNames& names, const ClaimRequest& request, const Look& look,
                           const rules::ClaimVerdict& verdict, const ClaimId& claim) {
  const bool reclaim = verdict.answer == rules::ClaimVerdict::Answer::reclaim;
  auto epoch = epoch_of_grant(section, look, reclaim);
  if (!epoch) return fail(epoch.error());
  auto life = take_life(names, request, reclaim);
  if (!life) return fail(life.error());
  // Validity counts from before the grant is written.
  const BootTime before = environment_.clock->boottime();
  LeaseRecord record = record_of(request, claim, epoch->epoch, **life, before);
  bool record_touched = false;
  if (auto written = write_grant(section, names, record, look, record_touched); !written) {
    Error error = record_touched ? undo(names, claim, look, reclaim, written.error()) : written.error();
    if (reclaim) adopt_life(request.key, std::move(*life));
    return fail(std::move(error));
  }
  viewer_.forget(look, names);
  Grant grant{request.key, claim, epoch->epoch, reclaim, std::nullopt, std::nullopt, (*life)->descriptor(), {}};
  if (!reclaim && look.occupant.kind != rules::Occupant::Kind::nobody) {
    grant.displaced = viewer_.observe(look);
    grant.displaced->why = verdict.why;
  }
  if (request.terms.ttl) grant.valid_until = before + *request.terms.ttl;
  if (!epoch->note.empty()) grant.notes.push_back(epoch->note);
  keep_held(request.key, Held{claim, epoch->epoch, std::move(*life), std::move(record)});
  return grant;
}

Result<void> Store::write_grant(Section& section, const FileNames& names, const LeaseRecord& record, const Look& look,
                                bool& record_touched) {
  const Epoch epoch(record.epoch);
  if (section.counter.reading != rules::EpochSource::Reading::value || section.counter.epoch < epoch) {
    if (auto copied = raise_copy(section); !copied) return copied;
    if (auto counted = write_counter(section, names, epoch); !counted) return counted;
  }
  if (!look.damage.empty() && !look.missing) {
    if (auto aside = put_aside(names, names.record); !aside) return aside;
  }
  record_touched = true;
  if (auto put = put_record(names, encode(record), look); !put) return put;
  // After the record: who looks without the lock never meets a note that says "held" and no record.
  if (auto noted = write_note(section, {epoch, SectionNote::State::held}, true); !noted) return noted;
  if (auto synced = directory_->sync(); !synced) return synced;
  auto in_place = directory_->in_place();
  if (!in_place) return fail(in_place.error());
  if (*in_place) return {};
  return fail(Code::unreachable, directory_->path() + " was moved or removed while " + look.key.text() + " was claimed",
              "open the space again");
}

// A takeover on a full disk can still rewrite the dead holder's record where it lies.
Result<void> Store::put_record(const FileNames& names, const std::string& bytes, const Look& look) {
  auto replaced = directory_->replace(names.record, names.temporary, bytes, true);
  if (replaced || replaced.error().code != Code::no_space || !look.record) return replaced;
  auto overwritten = directory_->overwrite(names.record, look.content->identity, bytes, true);
  if (overwritten) return overwritten;
  return replaced;
}

// After a write that failed: nothing of the claim may stay behind, and who claimed again what it has keeps what it had.
// Where that cannot be made sure of, nobody knows the outcome.
Error Store::undo(const FileNames& names, const ClaimId& claim, const Look& look, bool reclaim, Error error) {
  auto content = directory_->read(names.record, kMaxRecordBytes);
  // Without a descriptor not even the temporary file can have been made.
  if (!content && content.error().code == Code::no_descriptors && error.code == Code::no_descriptors) return error;
  if (content && !*content && !reclaim) return error;
  if (content && *content) {
    auto record = decode_lease_record((*content)->bytes);
    if (record && ClaimId::parse(record->claim_id) != claim) return error;
    if (record && !reclaim && directory_->remove(names.record)) return error;
  }
  if (reclaim && directory_->replace(names.record, names.temporary, look.content->bytes, false)) return error;
  Error unknown{Code::unknown_outcome,
                "the claim failed (" + error.message +
                    ") and its record could not be taken back: " + directory_->path() + "/" + names.record,
                "look with tenure who; the record ends with this process", nullptr};
  return unknown;
}

// Damaged things are evidence: they are moved, never deleted.
Result<void> Store::put_aside(const FileNames& names, const std::string& name) {
  for (int number = 1; number <= kMaxEvidence; ++number) {
    auto moved = directory_->move_aside(name, names.evidence(number));
    if (moved || moved.error().code != Code::damaged) return moved;
  }
  return fail(Code::limit_reached,
              directory_->path() + "/" + name + " is damaged and " + std::to_string(kMaxEvidence) +
                  " damaged things of this key were kept already",
              "look at " + directory_->path() + "/" + names.stem + ".evidence-*, then remove them");
}

}  // namespace tenure::files
