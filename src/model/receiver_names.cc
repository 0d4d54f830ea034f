#include "model/receiver_names.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "base/text.h"
#include "model/lease_record.h"

namespace tenure::receiver {
namespace {

constexpr std::string_view kOurs = "tenure-";
constexpr std::string_view kPrepare = ".receiver.prepare-";
constexpr std::string_view kReleased = ".receiver.released-";
constexpr std::string_view kIntentBegin = "reclaim.";
constexpr std::string_view kJson = ".json";
constexpr std::string_view kLeaseEvidence = "receiver.";
constexpr std::string_view kGuardEvidence = "lifecycle.";
constexpr std::string_view kTaken = ".tenure.guard-taken-";
constexpr std::string_view kDraft = ".tenure.guard-draft-";
constexpr std::size_t kUuidBytes = 36;
constexpr std::size_t kMillisecondsBytes = 20;  // of any 64 bits, sign included
constexpr std::size_t kTemplateBytes = 6;       // what mkdtemp() puts behind a name

// The longest of all: a guard in quarantine.
static_assert(kGuardEvidence.size() + kNameGenerationBytes + 1 + kMillisecondsBytes + 1 + kUuidBytes + kJson.size() <=
                  limits::kFileNameBytes,
              "the longest name fits a file name");

bool alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool name_byte(char c) {
  return alphanumeric(c) || c == '.' || c == '_' || c == '-';
}

std::string in_name(std::string_view generation) {
  std::string out;
  for (std::size_t offset = 0; offset < generation.size() && out.size() < kNameGenerationBytes;) {
    const auto character = decode_utf8(generation, offset);
    const bool stays = name_byte(generation[offset]);
    out += stays ? std::string(1, generation[offset]) : character && character->code > 0xffff ? "__" : "_";
    offset += character ? character->length : 1;
  }
  out.resize(std::min(out.size(), kNameGenerationBytes));
  return out;
}

// `begin`, and a uuid that ends it.
bool is_numbered(std::string_view name, std::string_view begin) {
  return name.starts_with(begin) && is_uuid(name.substr(begin.size()));
}

// Takes the part behind the last `separator` away.
std::string_view take_last(std::string_view& text, char separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return {};
  const std::string_view last = text.substr(at + 1);
  text = text.substr(0, at);
  return last;
}

bool is_milliseconds(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() < kMillisecondsBytes &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string evidence(std::string_view begin, std::string_view generation, WallTime moved, std::string_view uuid) {
  return std::string(begin) + in_name(generation) + "." + std::to_string(moved.milliseconds()) + "." +
         std::string(uuid);
}

// "<begin><generation>.<milliseconds>.<uuid>"
bool is_evidence(std::string_view name, std::string_view begin) {
  if (!name.starts_with(begin)) return false;
  name.remove_prefix(begin.size());
  if (!is_uuid(take_last(name, '.')) || !is_milliseconds(take_last(name, '.'))) return false;
  return !name.empty() && std::ranges::all_of(name, name_byte);
}

}  // namespace

std::string uuid_of(const Random16& random) {
  Random16 bytes = random;
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fU) | 0x40U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fU) | 0x80U);
  std::string text = to_hex(bytes);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) text.insert(dash, "-");
  return text;
}

bool is_uuid(std::string_view text) {
  if (text.size() != kUuidBytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_value(text[i]) < 0) return false;
  }
  return true;
}

std::string generation_of(const Random16& random) {
  return std::string(kOurs) + uuid_of(random);
}

bool is_ours(std::string_view generation) {
  return generation.starts_with(kOurs);
}

std::string prepared(std::string_view uuid) {
  return std::string(kPrepare) + std::string(kOurs) + std::string(uuid);
}

bool is_prepared(std::string_view name) {
  if (is_own_prepared(name)) return true;
  return name.size() == kPrepare.size() + kTemplateBytes && name.starts_with(kPrepare) &&
         std::ranges::all_of(name.substr(kPrepare.size()), alphanumeric);
}

bool is_own_prepared(std::string_view name) {
  return name.starts_with(kPrepare) && is_numbered(name.substr(kPrepare.size()), kOurs);
}

std::string released(std::string_view generation, std::string_view uuid) {
  return std::string(kReleased) + in_name(generation) + "-" + std::string(uuid);
}

bool is_released(std::string_view name) {
  if (!name.starts_with(kReleased) || name.size() < kReleased.size() + 2 + kUuidBytes) return false;
  const std::string_view generation = name.substr(kReleased.size(), name.size() - kReleased.size() - 1 - kUuidBytes);
  return name[name.size() - kUuidBytes - 1] == '-' && is_uuid(name.substr(name.size() - kUuidBytes)) &&
         std::ranges::all_of(generation, name_byte);
}

std::string intent(std::string_view generation) {
  return std::string(kIntentBegin) + in_name(generation) + std::string(kJson);
}

bool is_intent(std::string_view name) {
  return name.size() >= kIntentBegin.size() + kJson.size() && name.starts_with(kIntentBegin) && name.ends_with(kJson);
}

std::string quarantined_lease(std::string_view generation, WallTime moved, std::string_view uuid) {
  return evidence(kLeaseEvidence, generation, moved, uuid);
}

std::string quarantined_guard(std::string_view generation, WallTime moved, std::string_view uuid) {
  return evidence(kGuardEvidence, generation, moved, uuid) + std::string(kJson);
}

bool is_quarantined(std::string_view name) {
  return moved_at(name).has_value();
}

std::optional<WallTime> moved_at(std::string_view name) {
  const bool of_guard = name.ends_with(kJson) && name.starts_with(kGuardEvidence);
  if (of_guard) name.remove_suffix(kJson.size());
  if (!is_evidence(name, of_guard ? kGuardEvidence : kLeaseEvidence)) return std::nullopt;
  take_last(name, '.');
  const std::string_view digits = take_last(name, '.');
  std::int64_t milliseconds = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), milliseconds);
  return wall_time_of(milliseconds);
}

std::string taken_guard(std::string_view uuid) {
  return std::string(kTaken) + std::string(uuid);
}

bool is_taken_guard(std::string_view name) {
  return is_numbered(name, kTaken);
}

std::string guard_draft(std::string_view uuid) {
  return std::string(kDraft) + std::string(uuid);
}

bool is_guard_draft(std::string_view name) {
  return is_numbered(name, kDraft);
}

}  // namespace tenure::receiver
