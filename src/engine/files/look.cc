#include "engine/files/look.h"

#include "model/sha256.h"
#include "rules/liveness.h"

namespace tenure::files {
namespace {

// A reader without the lock may meet a record between two writes; it looks again before it calls it damaged.
constexpr int kTornReads = 4;
// A stamp may lie ahead of our wall clock by this much before it is not believed.
constexpr Duration kWallSkew = rules::kAgentmuxTtl;

std::string describe(const env::FileContent& content) {
  return std::to_string(content.identity.inode) + "/" + std::to_string(content.bytes.size()) + "/" +
         std::to_string(content.modified.milliseconds());
}

Standpoint standpoint_of(const env::Environment& environment, const FilesOptions& options) {
  Standpoint self = environment.processes->self();
  if (options.shared_folder) self.identity.machine_id.clear();
  return self;
}

// Foreign records carry any 32-bit number; what is no pid of Linux names nobody.
std::int32_t pid_of(const LeaseRecord& record) {
  return record.pid > INT32_MAX ? 0 : static_cast<std::int32_t>(record.pid);
}

}  // namespace

Viewer::Viewer(env::Directory& directory, const env::Environment& environment, const FilesOptions& options)
    : directory_(directory),
      environment_(environment),
      expiry_(options.expiry),
      shared_folder_(options.shared_folder),
      self_(standpoint_of(environment, options)),
      sightings_(directory, environment) {}

Result<Look> Viewer::read(const Key& key, const FileNames& names) {
  Look look(key);
  if (auto read = read_record(look, names); !read) return fail(read.error());
  return look;
}

Result<Look> Viewer::look(const Key& key, const FileNames& names) {
  for (int attempt = 1;; ++attempt) {
    auto look = read(key, names);
    if (!look) return look;
    if (look->record) {
      judge_record(*look, names);
    } else if (!look->damage.empty()) {
      judge_damage(*look, names);
    }
    // Between the record and what speaks for its holder, the holder may have given back: then it was no death.
    if (look->verdict.liveness != Liveness::dead || attempt == kTornReads) return look;
    auto again = directory_.read(names.record, kMaxRecordBytes);
    if (again && *again && (*again)->bytes == look->content->bytes) return look;
  }
}

Result<void> Viewer::read_record(Look& look, const FileNames& names) {
  for (int attempt = 0; attempt < kTornReads; ++attempt) {
    look.damage.clear();
    auto content = directory_.read(names.record, kMaxRecordBytes);
    if (!content) {
      if (content.error().code != Code::damaged) return fail(content.error());
      look.damage = content.error().message;
      look.silence_digest = sha256_hex("damaged:" + look.damage);
      continue;
    }
    look.content = std::move(*content);
    if (!look.content) return {};
    auto record = decode_lease_record(look.content->bytes);
    if (!record) {
      look.damage = directory_.path() + "/" + names.record + ": " + record.error().message;
    } else if (record->instance_id != look.key.text()) {
      look.damage = directory_.path() + "/" + names.record + " is the record of another key";
    } else {
      look.record = std::move(*record);
      look.silence_digest = sha256_hex(look.content->bytes);
      return {};
    }
    look.silence_digest = sha256_hex("damaged:" + describe(*look.content) + look.content->bytes);
  }
  return {};
}

bool Viewer::shares_clock(const LeaseExtra& extra) const {
  const ProcessIdentity& self = self_.identity;
  return !self.boot_id.empty() && extra.process.boot_id == self.boot_id &&
         extra.process.time_namespace == self.time_namespace && self.time_namespace != 0;
}

// Whether the locks of that boot are ours to ask. Without /proc a process does not know its boot; but a folder of this
// machine alone is used through this kernel or through none.
bool Viewer::one_kernel(const std::string& boot_id) const {
  const std::string& own = self_.identity.boot_id;
  if (boot_id.empty() || own.empty()) return !shared_folder_;
  return boot_id == own;
}

void Viewer::judge_record(Look& look, const FileNames& names) {
  const LeaseRecord& record = *look.record;
  rules::Occupant& occupant = look.occupant;
  occupant.kind = rules::Occupant::Kind::holder;
  occupant.owner = record.owner_boot_id;
  occupant.part = record.block_id;
  if (record.extra) {
    occupant.process = record.extra->process;
    occupant.hard_ttl = record.extra->terms.ttl;
    look.extension_digest = sha256_hex("extended:" + record.claim_id + ":" +
                                       std::to_string(record.extra->extended_monotonic.since_origin.count()));
  }
  occupant.process.pid = pid_of(record);
  look.verdict = judge_life(record, names);
  occupant.verdict = look.verdict;
  occupant.silence = silence_of(look, names);
  if (!occupant.hard_ttl) return;
  // Whoever asked for more than the format's bound is not called silent before that has passed.
  occupant.silence_bound = std::max(rules::kAgentmuxTtl, *occupant.hard_ttl);
  const MonotonicTime extended = record.extra->extended_monotonic;
  const MonotonicTime now = environment_.clock->monotonic();
  if (shares_clock(*record.extra) && extended <= now) {
    occupant.since_extension = {rules::Age::Basis::monotonic, now - extended};
  } else {
    occupant.since_extension = age_by_watching(names, look.extension_digest);
  }
}

rules::Age Viewer::silence_of(const Look& look, const FileNames& names) {
  if (expiry_ == rules::Expiry::age) {
    const rules::Age age = age_by_wall(look.record->renewed_at_ms);
    return age.basis == rules::Age::Basis::wall ? age : age_by_watching(names, look.silence_digest);
  }
  const MonotonicTime now = environment_.clock->monotonic();
  if (look.record->extra && shares_clock(*look.record->extra) && look.record->extra->renewed_monotonic <= now) {
    return {rules::Age::Basis::monotonic, now - look.record->extra->renewed_monotonic};
  }
  return age_by_watching(names, look.silence_digest);
}

rules::Age Viewer::age_by_wall(std::int64_t stamp_ms) const {
  const Duration age = environment_.clock->wall() - wall_time_of(stamp_ms);
  if (age < -kWallSkew) return {};
  return {rules::Age::Basis::wall, std::max(age, Duration{0})};
}

rules::Age Viewer::age_by_watching(const FileNames& names, const std::string& digest) {
  const auto first = sightings_.first_seen(names, digest);
  if (!first) return {rules::Age::Basis::observed, Duration{0}};
  return {rules::Age::Basis::observed, std::max(environment_.clock->monotonic() - *first, Duration{0})};
}

// A damaged record proves nothing about its holder; a held life lock beside it does.
void Viewer::judge_damage(Look& look, const FileNames& names) {
  look.occupant.kind = rules::Occupant::Kind::damaged;
  const auto life = directory_.probe_life(names.life, std::nullopt);
  if (life.sight == LifeSight::held) {
    look.verdict = {Liveness::live, "the record is damaged, but the life lock beside it is held"};
  } else {
    look.verdict = {Liveness::unknown, "the record is damaged and nothing else speaks for its holder"};
  }
  look.occupant.verdict = look.verdict;
  rules::Age age;
  if (expiry_ == rules::Expiry::age && look.content) age = age_by_wall(look.content->modified.milliseconds());
  if (age.basis != rules::Age::Basis::wall) age = age_by_watching(names, look.silence_digest);
  look.occupant.silence = age;
}

void Viewer::judge_missing(Look& look, const FileNames& names) const {
  if (directory_.probe_life(names.life, std::nullopt).sight != LifeSight::held) return;
  look.damage = directory_.path() + "/" + names.record + " is missing, though it was not given back";
  look.missing = true;
  look.silence_digest = sha256_hex("missing");
  look.occupant.kind = rules::Occupant::Kind::damaged;
  look.verdict = {Liveness::live, "its record is missing, but its life lock is held"};
  look.occupant.verdict = look.verdict;
}

ProcessSight Viewer::sight_of(const ProcessIdentity& process) const {
  // Of another boot or namespace nothing that we see under that number means anything.
  const ProcessIdentity& self = self_.identity;
  if (process.boot_id != self.boot_id || process.pid_namespace != self.pid_namespace) return {};
  return environment_.processes->look(process.pid);
}

Verdict Viewer::judge_life(const LeaseRecord& record, const FileNames& names) const {
  if (record.extra) return judge_own(record, names);
  const std::int32_t pid = pid_of(record);
  const ProcessSight sight = pid == 0 ? ProcessSight{} : environment_.processes->look(pid);
  if (expiry_ == rules::Expiry::age) {
    return rules::judge_foreign_as_agentmux(record.pid, record.hostname, record.pid_start_s, sight, self_);
  }
  return rules::judge_foreign(record.pid, record.hostname, record.pid_start_s, sight, self_);
}

Verdict Viewer::judge_own(const LeaseRecord& record, const FileNames& names) const {
  const LeaseExtra& extra = *record.extra;
  rules::Testimony testimony;
  testimony.same_boot = one_kernel(extra.process.boot_id);
  testimony.keeper = rules::judge_process(extra.process, sight_of(extra.process), self_);
  if (extra.owner_process) {
    testimony.owner = rules::judge_process(*extra.owner_process, sight_of(*extra.owner_process), self_);
  }
  if (extra.life != FileIdentity{}) testimony.life = directory_.probe_life(names.life, extra.life).sight;
  return rules::judge_lease(testimony);
}

bool Viewer::remember(const Look& look, const FileNames& names) {
  bool fresh = false;
  if (look.occupant.silence.basis == rules::Age::Basis::observed) {
    fresh = sightings_.remember(names, look.silence_digest) || fresh;
  }
  if (look.occupant.since_extension.basis == rules::Age::Basis::observed) {
    fresh = sightings_.remember(names, look.extension_digest) || fresh;
  }
  return fresh;
}

void Viewer::keep(const Look& look, const FileNames& names) {
  std::vector<std::string> watched;
  if (look.occupant.silence.basis == rules::Age::Basis::observed) watched.push_back(look.silence_digest);
  if (look.occupant.since_extension.basis == rules::Age::Basis::observed) watched.push_back(look.extension_digest);
  sightings_.keep(names, watched);
}

void Viewer::forget(const Look& look, const FileNames& names) {
  const rules::Occupant& occupant = look.occupant;
  for (const rules::Age& age : {occupant.silence, occupant.since_extension}) {
    if (age.basis == rules::Age::Basis::observed) return sightings_.forget(names);
  }
}

Observation Viewer::observe(const Look& look) const {
  Observation seen(look.key);
  seen.verdict = look.verdict;
  const rules::ClaimVerdict verdict = rules::decide_for_stranger(expiry_, look.occupant);
  seen.claimable = verdict.granted();
  seen.why = verdict.why;
  seen.frees_in = verdict.frees_in;
  if (look.record) {
    seen.state = State::held;
    seen.holders = 1;
    seen.epoch = Epoch(look.record->epoch);
    seen.holder = holder_of(*look.record);
    const rules::Age& silence = look.occupant.silence;
    if (silence.basis == rules::Age::Basis::monotonic || silence.basis == rules::Age::Basis::wall) {
      seen.silent_for = silence.value;
    }
    if (!look.record->extra) seen.note = "written by AgentMux, or by another program of its format";
  } else if (!look.damage.empty()) {
    seen.state = State::damaged;
    seen.note = look.damage;
  }
  return seen;
}

}  // namespace tenure::files
