#include "model/file_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/sha256.h"

namespace tenure {
namespace {

constexpr std::size_t kMaxPlainStem = 200;
constexpr std::size_t kDigestDigits = 64;
constexpr char kHashMark = '~';

constexpr std::string_view kRecord = ".lease.json";
constexpr std::string_view kLock = ".lock";
constexpr std::string_view kEpoch = ".epoch";
constexpr std::string_view kLife = ".life";
constexpr std::string_view kTemporary = ".tmp";
constexpr std::string_view kSeen = ".seen";
constexpr std::string_view kRevoked = ".revoked.json";
constexpr std::string_view kEvidence = ".evidence-";

// No suffix ends with another one: so two different stems never make one name, and a name tells its stem.
constexpr std::array<std::string_view, 7> kSuffixes = {kRecord, kLock, kEpoch, kLife, kTemporary, kSeen, kRevoked};

bool plain_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool lower_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool plain_stem(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPlainStem && std::ranges::all_of(text, plain_byte);
}

bool hashed_stem(std::string_view text) {
  return text.size() == 1 + kDigestDigits && text.front() == kHashMark &&
         std::ranges::all_of(text.substr(1), lower_hex);
}

std::optional<std::string> checked_stem(std::string_view text) {
  if (plain_stem(text) || hashed_stem(text)) return std::string(text);
  return std::nullopt;
}

// A number as std::to_string writes it, from 0 up, in the range of int.
bool canonical_number(std::string_view digits) {
  int number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && number >= 0 && std::to_string(number) == digits;
}

}  // namespace

std::string FileNames::evidence(int number) const {
  return stem + std::string(kEvidence) + std::to_string(number);
}

FileNames file_names(const Key& key) {
  FileNames names;
  names.stem = plain_stem(key.text()) ? key.text() : kHashMark + sha256_hex(key.text());
  names.record = names.stem + std::string(kRecord);
  names.lock = names.stem + std::string(kLock);
  names.epoch = names.stem + std::string(kEpoch);
  names.life = names.stem + std::string(kLife);
  names.temporary = names.stem + std::string(kTemporary);
  names.seen = names.stem + std::string(kSeen);
  names.revoked = names.stem + std::string(kRevoked);
  return names;
}

std::optional<std::string> stem_of_record(std::string_view file_name) {
  if (!file_name.ends_with(kRecord)) return std::nullopt;
  return checked_stem(file_name.substr(0, file_name.size() - kRecord.size()));
}

std::optional<std::string> stem_of(std::string_view file_name) {
  for (const std::string_view suffix : kSuffixes) {
    if (file_name.ends_with(suffix)) return checked_stem(file_name.substr(0, file_name.size() - suffix.size()));
  }
  const std::size_t at = file_name.rfind(kEvidence);
  if (at == std::string_view::npos || !canonical_number(file_name.substr(at + kEvidence.size()))) return std::nullopt;
  return checked_stem(file_name.substr(0, at));
}

std::optional<Key> key_of_stem(std::string_view stem) {
  if (!plain_stem(stem)) return std::nullopt;
  auto key = Key::parse(stem);
  if (!key) return std::nullopt;
  return *std::move(key);
}

}  // namespace tenure
