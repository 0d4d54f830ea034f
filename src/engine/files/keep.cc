// Keeping a lease: signs of life, renewal, verification, and finding out that it is lost.
#include <algorithm>

#include "base/limits.h"
#include "engine/files/store.h"

namespace tenure::files {
namespace {

using Answer = rules::CurrentVerdict::Answer;

rules::Occupant::Kind kind_of(const Look& look) {
  if (look.record) return rules::Occupant::Kind::holder;
  return look.damage.empty() ? rules::Occupant::Kind::nobody : rules::Occupant::Kind::damaged;
}

}  // namespace

Result<Store::Current> Store::current(const ClaimRef& claim, const FileNames& names, const Section* section) {
  auto look = viewer_.read(claim.key, names);
  if (!look) return fail(look.error());
  rules::CurrentFacts facts;
  facts.kind = kind_of(*look);
  if (look->record) {
    facts.claim = ClaimId::parse(look->record->claim_id);
    facts.record_epoch = Epoch(look->record->epoch);
    if (look->record->extra) {
      facts.hard_ttl = look->record->extra->terms.ttl;
      const Duration since = environment_.clock->boottime() - look->record->extra->extended_boot;
      facts.since_extension = std::max(since, Duration{0});
    }
  }
  if (section != nullptr) {
    facts.counter = section->counter;
    facts.note = section->note_epoch;
    facts.note_says_held = section->note.state == SectionNote::State::held;
  } else if (facts.claim != claim.claim) {
    // Not ours at a glance: then the counters say whether somebody was granted the key since.
    const auto glance = glance_at_counters(names);
    if (!glance) return fail(glance.error());
    facts.counter = glance->counter;
    facts.note = glance->note_epoch;
    facts.note_says_held = glance->note.state == SectionNote::State::held;
  }
  return Current{rules::decide_current(facts, claim.claim, claim.epoch), std::move(*look)};
}

std::string Store::told_why(const ClaimRef& claim, const FileNames& names, const rules::CurrentVerdict& verdict) {
  auto content = directory_->read(names.revoked, kMaxRecordBytes);
  if (content && *content) {
    auto revocation = decode_revocation((*content)->bytes);
    if (revocation && revocation->epoch == claim.epoch) {
      return "revoked by " + revocation->by_user + " (pid " + std::to_string(revocation->by_pid) + " on " +
             revocation->by_host + "): " + revocation->reason;
    }
  }
  return verdict.why;
}

std::unexpected<Error> Store::lost(const ClaimRef& claim, const FileNames& names, const Current& current) {
  drop_held(claim);
  Error error{Code::lost, claim.key.text() + " is lost: " + told_why(claim, names, current.verdict), "", nullptr};
  auto seen = holder(claim.key);
  if (seen) error.holder = std::make_shared<const Observation>(std::move(*seen));
  return fail(std::move(error));
}

Result<void> Store::rewrite(const FileNames& names, const LeaseRecord& record, const Look& look) {
  const std::string bytes = encode(record);
  if (look.record) {
    auto overwritten = directory_->overwrite(names.record, look.content->identity, bytes, false);
    if (overwritten) return overwritten;
    if (overwritten.error().code == Code::unknown_outcome) return overwritten;
  }
  if (!look.damage.empty() && !look.missing) {
    if (auto aside = put_aside(names, names.record); !aside) return aside;
  }
  return directory_->replace(names.record, names.temporary, bytes, false);
}

Result<Renewal> Store::sign(const ClaimRef& claim, Extend extend) {
  if (auto own = check_change(claim.key); !own) return fail(own.error());
  if (auto place = check_place(claim); !place) return fail(place.error());
  const FileNames names = file_names(claim.key);
  auto section = enter(names, limits::kSectionWait, nullptr);
  if (!section) return fail(section.error());
  return sign_inside(*section, claim, names, extend);
}

Result<Renewal> Store::sign_inside(const Section& section, const ClaimRef& claim, const FileNames& names,
                                   Extend extend) {
  auto now = current(claim, names, &section);
  if (!now) return fail(now.error());
  const auto kept = held(claim);
  const Answer answer = now->verdict.answer;
  if (answer == Answer::lost || answer == Answer::gone) return lost(claim, names, *now);
  if (answer == Answer::restore && !kept) {
    return fail(Code::damaged,
                "the record of " + claim.key.text() + " is missing or damaged; its keeper will write it again",
                "try again in a moment");
  }
  LeaseRecord record = answer == Answer::restore ? kept->record : *now->look.record;
  const BootTime before = environment_.clock->boottime();
  if (!record.extra) return fail(Code::damaged, "the record of " + claim.key.text() + " lacks our part of it");
  if (kept) record.extra->life = kept->life->identity();
  record.renewed_at_ms = environment_.clock->wall().milliseconds();
  record.extra->renewed_monotonic = environment_.clock->monotonic();
  record.extra->renewed_boot = before;
  if (extend == Extend::yes) {
    record.extra->extended_monotonic = record.extra->renewed_monotonic;
    record.extra->extended_boot = before;
  }
  if (auto written = rewrite(names, record, now->look); !written) return fail(written.error());
  Renewal renewal{claim.epoch, std::nullopt, std::nullopt};
  if (answer == Answer::late) renewal.late_by = now->verdict.late_by;
  if (record.extra->terms.ttl) renewal.valid_until = record.extra->extended_boot + *record.extra->terms.ttl;
  if (kept) {
    Held again = *kept;
    again.record = std::move(record);
    keep_held(claim.key, std::move(again));
  }
  return renewal;
}

Result<Renewal> Store::beat(const ClaimRef& claim) {
  // The guard has the section, and signs itself meanwhile.
  if (guards(claim.key)) return Renewal{claim.epoch, std::nullopt, std::nullopt};
  return sign(claim, Extend::no);
}
Result<Renewal> Store::renew(const ClaimRef& claim) {
  return sign(claim, Extend::yes);
}

Result<Standing> Store::verify(const ClaimRef& claim) {
  if (auto own = check_process(); !own) return fail(own.error());
  if (auto place = check_place(claim); !place) return fail(place.error());
  const FileNames names = file_names(claim.key);
  auto now = current(claim, names, nullptr);
  if (!now) return fail(now.error());
  Standing standing{claim.epoch, std::nullopt};
  switch (now->verdict.answer) {
    case Answer::lost:
    case Answer::gone:
      return lost(claim, names, *now);
    case Answer::late:
      return fail(Code::expired,
                  claim.key.text() + " is past its TTL by " + words(now->verdict.late_by) + "; nobody has taken it yet",
                  "renew it, or stop the work");
    case Answer::restore:
      standing.needs_beat = true;
      return standing;
    case Answer::current:
      break;
  }
  if (now->look.record && now->look.record->extra && now->look.record->extra->terms.ttl) {
    const LeaseExtra& extra = *now->look.record->extra;
    standing.remaining = extra.extended_boot + *extra.terms.ttl - environment_.clock->boottime();
  }
  return standing;
}

}  // namespace tenure::files
