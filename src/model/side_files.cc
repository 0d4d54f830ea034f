#include "model/side_files.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "model/bounded_text.h"
#include "model/checksum.h"
#include "model/json_reader.h"
#include "model/json_writer.h"

namespace tenure {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxEpochFileBytes = 64;
constexpr std::size_t kMaxObserverBytes = 256;
constexpr std::size_t kMaxDigestBytes = 256;
constexpr std::uint64_t kMaxStampNs = std::uint64_t{1} << 62;
constexpr std::string_view kNoteBegin = "tenure-note 1 ";

std::optional<std::uint64_t> decimal(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::unexpected<Error> damaged(std::string_view what, std::string_view why) {
  return fail(Code::damaged, std::string(what) + " is damaged: " + std::string(why));
}

std::string_view word_of(SectionNote::State state) {
  switch (state) {
    case SectionNote::State::held:
      return "held";
    case SectionNote::State::revoked:
      return "revoked";
    case SectionNote::State::free:
      break;
  }
  return "free";
}

std::optional<SectionNote::State> state_of(std::string_view word) {
  for (const auto state : {SectionNote::State::held, SectionNote::State::free, SectionNote::State::revoked}) {
    if (word == word_of(state)) return state;
  }
  return std::nullopt;
}

}  // namespace

// ---- <id>.epoch ---------------------------------------------------------------------------------------------------

std::string encode_epoch_file(Epoch epoch) {
  return epoch.text() + "\n";
}

Result<Epoch> decode_epoch_file(std::string_view bytes) {
  static constexpr std::string_view kWhat = "the epoch counter";
  if (bytes.size() > kMaxEpochFileBytes) return damaged(kWhat, "longer than 64 bytes");
  const std::string_view digits = trim(bytes);
  if (digits.empty()) return damaged(kWhat, "it is empty");
  const auto number = decimal(digits);
  if (!number) return damaged(kWhat, "not a decimal number");
  const Epoch epoch(*number);
  if (!epoch.credible()) return damaged(kWhat, "2^53 or more");
  return epoch;
}

// ---- the note in <id>.lock ----------------------------------------------------------------------------------------

std::string encode(const SectionNote& note) {
  std::string text = std::string(kNoteBegin) + note.epoch.text() + " " + std::string(word_of(note.state));
  return text + " " + crc32_hex(text) + "\n";
}

Result<SectionNote> decode_section_note(std::string_view bytes) {
  static constexpr std::string_view kWhat = "the note in the lock file";
  if (bytes.empty()) return damaged(kWhat, "it is empty");
  if (bytes.size() > limits::kSectionFileBytes) return damaged(kWhat, "longer than 4096 bytes");
  const std::string_view text = trim(bytes);
  const bool ended = bytes.substr(static_cast<std::size_t>(text.data() - bytes.data()) + text.size()).contains('\n');
  if (!text.starts_with(kNoteBegin)) return damaged(kWhat, "it does not begin with \"tenure-note 1\"");
  const std::string_view body = text.substr(0, text.rfind(' '));
  if (body.size() <= kNoteBegin.size() || crc32_hex(body) != text.substr(body.size() + 1)) {
    return damaged(kWhat, "its checksum is wrong");
  }
  const std::string_view fields = body.substr(kNoteBegin.size());
  const std::size_t blank = fields.find(' ');
  const auto number = decimal(fields.substr(0, blank));
  const auto state = blank == std::string_view::npos ? std::nullopt : state_of(fields.substr(blank + 1));
  if (!number || !state) return damaged(kWhat, "not an epoch and a state");
  const SectionNote note{Epoch(*number), *state};
  if (!note.epoch.credible()) return damaged(kWhat, "an epoch of 2^53 or more");
  if (!ended) return damaged(kWhat, "its line does not end");
  return note;
}

// ---- <id>.seen ----------------------------------------------------------------------------------------------------

std::string encode(const std::vector<Sighting>& sightings) {
  JsonWriter out;
  out.open_object();
  out.number("version", kVersion);
  out.open_array("sightings");
  // New ones are put at the end, so the first are the oldest.
  const std::size_t skipped = sightings.size() - std::min(sightings.size(), kMaxSightings);
  for (std::size_t i = skipped; i < sightings.size(); ++i) {
    const Sighting& sighting = sightings[i];
    out.open_object();
    out.text("observer", bounded_text(sighting.observer, kMaxObserverBytes));
    out.text("digest", bounded_text(sighting.digest, kMaxDigestBytes));
    const std::int64_t stamp = sighting.first_seen.since_origin.count();
    out.big_number("first_seen_monotonic_ns",
                   std::min(stamp < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(stamp), kMaxStampNs));
    out.close_object();
  }
  out.close_array();
  out.close_object();
  return out.finish();
}

Result<std::vector<Sighting>> decode_sightings(std::string_view bytes) {
  static constexpr std::string_view kWhat = "the list of sightings";
  const auto object = parse_json_object(bytes, limits::kRecordBytes, kWhat);
  if (!object) return fail(object.error());
  std::optional<std::string> complaint;
  JsonReader reader(*object, complaint);
  std::vector<Sighting> sightings;
  const boost::json::array* list = check_version(reader, kVersion) ? reader.array("sightings") : nullptr;
  if (list != nullptr && list->size() > kMaxSightings) reader.complain("sightings", "has too many entries");
  for (std::size_t i = 0; list != nullptr && !complaint && i < list->size(); ++i) {
    const boost::json::object* entry = (*list)[i].if_object();
    const std::string name = "sightings[" + std::to_string(i) + "]";
    if (entry == nullptr) {
      reader.complain(name, "is not an object");
      break;
    }
    JsonReader fields(*entry, complaint, name + ".");
    Sighting sighting;
    sighting.observer = fields.text("observer");
    sighting.digest = fields.text("digest");
    const std::uint64_t stamp = fields.big_number("first_seen_monotonic_ns", kMaxStampNs);
    sighting.first_seen = MonotonicTime{Duration{static_cast<std::int64_t>(stamp)}};
    sightings.push_back(std::move(sighting));
  }
  if (complaint) return damaged(kWhat, *complaint);
  return sightings;
}

// ---- <id>.revoked.json --------------------------------------------------------------------------------------------

Revocation bounded(const Revocation& revocation) {
  Revocation out = revocation;
  out.reason = bounded_text(revocation.reason, limits::kReasonBytes);
  out.by_user = bounded_text(revocation.by_user, limits::kUserNameBytes);
  out.by_host = bounded_text(revocation.by_host, limits::kHostBytes);
  out.by_command = bounded_text(revocation.by_command, limits::kCommandBytes);
  out.was = bounded_text(revocation.was, kMaxWasBytes);
  return out;
}

std::string encode(const Revocation& revocation) {
  const Revocation what = bounded(revocation);
  JsonWriter out;
  out.open_object();
  out.number("version", kVersion);
  out.number("epoch", what.epoch.value());
  out.text("reason", what.reason);
  out.text("by_user", what.by_user);
  out.text("by_host", what.by_host);
  out.number("by_pid", what.by_pid);
  out.text("by_command", what.by_command);
  out.truth("forced", what.forced);
  out.number("at_ms", what.at_ms);
  out.text("was", what.was);
  out.close_object();
  return out.finish();
}

Result<Revocation> decode_revocation(std::string_view bytes) {
  static constexpr std::string_view kWhat = "the record of the revocation";
  const auto object = parse_json_object(bytes, limits::kRecordBytes, kWhat);
  if (!object) return fail(object.error());
  std::optional<std::string> complaint;
  JsonReader reader(*object, complaint);
  Revocation revocation;
  if (check_version(reader, kVersion)) {
    revocation.epoch = Epoch(reader.number("epoch", Epoch::kLimit - 1));
    revocation.reason = reader.text("reason");
    revocation.by_user = reader.text("by_user");
    revocation.by_host = reader.text("by_host");
    revocation.by_pid = reader.signed_number("by_pid");
    revocation.by_command = reader.text("by_command");
    revocation.forced = reader.truth("forced");
    revocation.at_ms = reader.signed_number("at_ms");
    revocation.was = reader.text("was");
  }
  if (complaint) return damaged(kWhat, *complaint);
  return revocation;
}

}  // namespace tenure
