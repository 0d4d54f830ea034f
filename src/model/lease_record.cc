#include "model/lease_record.h"

#include <algorithm>

#include "base/limits.h"
#include "model/bounded_text.h"
#include "model/json_reader.h"
#include "model/json_writer.h"
#include "model/record_parts.h"

namespace tenure {
namespace {

static_assert(kMaxRecordBytes == limits::kRecordBytes);

constexpr std::int64_t kExtraVersion = 1;
// So far from the ends that a difference of two stamps cannot overflow.
constexpr std::uint64_t kMaxStampNs = std::uint64_t{1} << 62;
constexpr std::int64_t kMaxTtlMs =
    std::chrono::duration_cast<std::chrono::milliseconds>(limits::kLongestDuration).count();

// ---- bounds -------------------------------------------------------------------------------------------------------

template <class Time>
Time bounded_stamp(Time stamp) {
  const auto most = static_cast<std::int64_t>(kMaxStampNs);
  return Time{Duration{std::clamp<std::int64_t>(stamp.since_origin.count(), 0, most)}};
}

// Up, so that what others read never ends before what the holder relies on.
Duration bounded_ttl(Duration ttl) {
  const Duration sane = std::clamp(ttl, Duration{0}, Duration{limits::kLongestDuration});
  return std::chrono::ceil<std::chrono::milliseconds>(sane);
}

LeaseExtra bounded(LeaseExtra extra) {
  extra.process = record_parts::bounded(std::move(extra.process));
  if (extra.owner_process) extra.owner_process = record_parts::bounded(*std::move(extra.owner_process));
  extra.renewed_monotonic = bounded_stamp(extra.renewed_monotonic);
  extra.renewed_boot = bounded_stamp(extra.renewed_boot);
  extra.extended_monotonic = bounded_stamp(extra.extended_monotonic);
  extra.extended_boot = bounded_stamp(extra.extended_boot);
  if (extra.terms.ttl) extra.terms.ttl = bounded_ttl(*extra.terms.ttl);
  extra.terms.reason = bounded_text(extra.terms.reason, limits::kReasonBytes);
  extra.user_name = bounded_text(extra.user_name, limits::kUserNameBytes);
  extra.command = bounded_text(extra.command, limits::kCommandBytes);
  extra.directory = bounded_text(extra.directory, record_parts::kDirectoryBytes);
  return extra;
}

// ---- words for enumerators ----------------------------------------------------------------------------------------

std::string_view word_of(Mode mode) {
  return mode == Mode::shared ? "shared" : "exclusive";
}

Mode read_mode(JsonReader& reader) {
  const std::string word = reader.text("mode");
  for (const Mode mode : {Mode::exclusive, Mode::shared}) {
    if (word == word_of(mode)) return mode;
  }
  reader.complain("mode", "is neither exclusive nor shared");
  return Mode::exclusive;
}

// ---- our own object -----------------------------------------------------------------------------------------------

template <class Time>
void write_stamp(JsonWriter& out, std::string_view key, Time stamp) {
  out.big_number(key, static_cast<std::uint64_t>(stamp.since_origin.count()));
}

template <class Time>
Time read_stamp(JsonReader& reader, std::string_view name) {
  return Time{Duration{static_cast<std::int64_t>(reader.big_number(name, kMaxStampNs))}};
}

void write_terms(JsonWriter& out, const Terms& terms) {
  out.text("mode", word_of(terms.mode));
  out.number("slots", terms.slots);
  if (terms.ttl) {
    out.number("ttl_ms", std::int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(*terms.ttl).count()});
  } else {
    out.null("ttl_ms");
  }
  out.text("reason", terms.reason);
  out.text("at_loss", record_parts::word_of(terms.at_loss));
}

Terms read_terms(JsonReader& reader) {
  Terms terms;
  terms.mode = read_mode(reader);
  terms.slots = static_cast<std::uint32_t>(reader.number("slots", record_parts::kMaxU32));
  if (reader.has_value("ttl_ms")) terms.ttl = std::chrono::milliseconds{reader.signed_number("ttl_ms", 0, kMaxTtlMs)};
  terms.reason = reader.text("reason");
  terms.at_loss = record_parts::read_at_loss(reader);
  return terms;
}

void write_extra(JsonWriter& out, const LeaseExtra& extra) {
  out.open_object("tenure");
  out.number("version", kExtraVersion);
  record_parts::write_processes(out, extra.process, extra.owner_process);
  record_parts::write_life(out, extra.life);
  write_stamp(out, "renewed_monotonic_ns", extra.renewed_monotonic);
  write_stamp(out, "renewed_boot_ns", extra.renewed_boot);
  write_stamp(out, "extended_monotonic_ns", extra.extended_monotonic);
  write_stamp(out, "extended_boot_ns", extra.extended_boot);
  write_terms(out, extra.terms);
  out.text("user_name", extra.user_name);
  out.text("command", extra.command);
  out.text("directory", extra.directory);
  out.close_object();
}

LeaseExtra read_extra(JsonReader& reader) {
  LeaseExtra extra;
  if (!check_version(reader, kExtraVersion)) return extra;
  extra.process = record_parts::read_process(reader, "process");
  extra.owner_process = record_parts::read_owner_process(reader);
  extra.life = record_parts::read_life(reader);
  extra.renewed_monotonic = read_stamp<MonotonicTime>(reader, "renewed_monotonic_ns");
  extra.renewed_boot = read_stamp<BootTime>(reader, "renewed_boot_ns");
  extra.extended_monotonic = read_stamp<MonotonicTime>(reader, "extended_monotonic_ns");
  extra.extended_boot = read_stamp<BootTime>(reader, "extended_boot_ns");
  extra.terms = read_terms(reader);
  extra.user_name = reader.text("user_name");
  extra.command = reader.text("command");
  extra.directory = reader.text("directory");
  return extra;
}

// ---- AgentMux's fields --------------------------------------------------------------------------------------------

void read_required(JsonReader& reader, LeaseRecord& record) {
  record.instance_id = reader.text("instance_id");
  record.owner_boot_id = reader.text("owner_boot_id");
  record.block_id = reader.text("block_id");
  if (!reader.has("session_id") || reader.has_value("session_id")) record.session_id = reader.text("session_id");
  record.pid = static_cast<std::uint32_t>(reader.number("pid", record_parts::kMaxU32));
  record.acquired_at_ms = reader.signed_number("acquired_at_ms");
  record.renewed_at_ms = reader.signed_number("renewed_at_ms");
}

// Present with another type is damage, as it is to AgentMux; only absence has a default.
void read_optional(JsonReader& reader, LeaseRecord& record) {
  if (reader.has("epoch")) record.epoch = reader.number("epoch", Epoch::kLimit - 1);
  if (reader.has("hostname")) record.hostname = reader.text("hostname");
  if (reader.has("pid_start_s")) record.pid_start_s = reader.number("pid_start_s", record_parts::kMaxU64);
  if (reader.has("channel")) record.channel = reader.text("channel");
  if (reader.has("version")) record.version = reader.text("version");
  if (reader.has("claim_id")) record.claim_id = reader.text("claim_id");
}

void write_record(JsonWriter& out, const LeaseRecord& record) {
  out.open_object();
  out.text("instance_id", record.instance_id);
  out.text("owner_boot_id", record.owner_boot_id);
  out.text("block_id", record.block_id);
  if (record.session_id) {
    out.text("session_id", *record.session_id);
  } else {
    out.null("session_id");
  }
  out.number("pid", record.pid);
  out.number("acquired_at_ms", record.acquired_at_ms);
  out.number("renewed_at_ms", record.renewed_at_ms);
  out.number("epoch", record.epoch);
  out.text("hostname", record.hostname);
  out.number("pid_start_s", record.pid_start_s);
  out.text("channel", record.channel);
  out.text("version", record.version);
  out.text("claim_id", record.claim_id);
  if (record.extra) write_extra(out, *record.extra);
  out.close_object();
}

}  // namespace

LeaseRecord bounded(const LeaseRecord& record) {
  LeaseRecord out = record;
  out.instance_id = bounded_text(record.instance_id, Key::kMaxBytes);
  out.claim_id = bounded_text(record.claim_id, record_parts::kIdBytes);
  out.hostname = bounded_text(record.hostname, limits::kHostBytes);
  for (std::string* label : {&out.owner_boot_id, &out.block_id, &out.channel, &out.version}) {
    *label = bounded_text(*label, limits::kLabelBytes);
  }
  if (record.session_id) out.session_id = bounded_text(*record.session_id, limits::kLabelBytes);
  if (record.extra) out.extra = bounded(*record.extra);
  return out;
}

std::string encode(const LeaseRecord& record) {
  JsonWriter out;
  write_record(out, bounded(record));
  return out.finish();
}

Result<LeaseRecord> decode_lease_record(std::string_view bytes) {
  static constexpr std::string_view kWhat = "the lease record";
  const auto object = parse_json_object(bytes, kMaxRecordBytes, kWhat);
  if (!object) return fail(object.error());
  std::optional<std::string> complaint;
  JsonReader reader(*object, complaint);
  LeaseRecord record;
  read_required(reader, record);
  read_optional(reader, record);
  if (reader.has("tenure")) {
    const boost::json::object* own = reader.object("tenure");
    if (own != nullptr) {
      JsonReader own_reader(*own, complaint, "tenure.");
      record.extra = read_extra(own_reader);
    }
  }
  if (complaint) return fail(Code::damaged, std::string(kWhat) + " is damaged: " + *complaint);
  return record;
}

WallTime wall_time_of(std::int64_t milliseconds) {
  constexpr auto kMost = static_cast<std::int64_t>(kMaxStampNs / 1'000'000);
  return WallTime::from_milliseconds(std::clamp(milliseconds, -kMost, kMost));
}

Holder holder_of(const LeaseRecord& record) {
  Holder holder;
  holder.owner = record.owner_boot_id;
  holder.part = record.block_id;
  holder.host = record.hostname;
  holder.channel = record.channel;
  holder.version = record.version;
  holder.session = record.session_id.value_or("");
  holder.since = wall_time_of(record.acquired_at_ms);
  if (!record.extra) {
    // A pid that no Linux process can have is not known.
    if (record.pid <= record_parts::kMaxPid) holder.process.pid = static_cast<std::int32_t>(record.pid);
    return holder;
  }
  holder.process = record.extra->process;
  holder.owner_process = record.extra->owner_process;
  holder.user_name = record.extra->user_name;
  holder.command = record.extra->command;
  holder.directory = record.extra->directory;
  holder.reason = record.extra->terms.reason;
  holder.ttl = record.extra->terms.ttl;
  return holder;
}

}  // namespace tenure
