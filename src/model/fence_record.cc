#include "model/fence_record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "model/checksum.h"
#include "model/sha256.h"

namespace tenure {
namespace {

constexpr std::string_view kName = "tenure-fence ";
constexpr std::string_view kBegin = "tenure-fence 1 ";
constexpr std::size_t kMaxPlainStem = 200;
constexpr std::string_view kRecord = ".fence";
constexpr std::string_view kLock = ".fence.lock";
constexpr std::string_view kTemporary = ".fence.tmp";
constexpr std::string_view kNewLock = ".fence.lock.new";  // a lock file that is being made: see section_lock.cc
constexpr std::string_view kDraft = ".fence.draft-";

static_assert(kMaxFenceBytes >= 3 * (limits::kKeyBytes + limits::kUrlBytes) + 64, "the longest key and space fit");
static_assert(1 + kMaxPlainStem + kDraft.size() + 1 <= limits::kFileNameBytes, "the longest stem and ending fit");
static_assert(FenceNames::kDrafts <= 10, "one digit numbers a draft");

std::unexpected<Error> damaged(std::string_view why) {
  return fail(Code::damaged, "the sidecar of a fenced file is damaged: " + std::string(why));
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// "tenure-fence 2 …": whole, perhaps, and not for us to read.
bool of_another_version(std::string_view bytes) {
  if (!bytes.starts_with(kName)) return false;
  const std::string_view rest = bytes.substr(kName.size());
  const auto version = number_of(rest.substr(0, rest.find(' ')));
  return version && *version > 1;
}

std::optional<FenceRecord> record_of(std::string_view fields) {
  const std::size_t first = fields.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : fields.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto epoch = number_of(fields.substr(0, first));
  const auto key = percent_decode(fields.substr(first + 1, second - first - 1));
  const auto space = percent_decode(fields.substr(second + 1));
  if (!epoch || !key || !space || space->empty() || !Key::parse(*key)) return std::nullopt;
  return FenceRecord{Epoch(*epoch), *key, *space};
}

bool plain(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxPlainStem && std::ranges::all_of(name, fits);
}

bool stem(std::string_view text) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool hashed = text.size() == 65 && text.front() == '~' && std::ranges::all_of(text.substr(1), hex);
  return hashed || plain(text);
}

}  // namespace

std::string encode(const FenceRecord& record) {
  const std::string text =
      std::string(kBegin) + record.epoch.text() + " " + percent_encode(record.key) + " " + percent_encode(record.space);
  return text + " " + crc32_hex(text) + "\n";
}

Result<FenceRecord> decode_fence_record(std::string_view bytes) {
  if (bytes.empty()) return damaged("it is empty");
  if (bytes.size() > kMaxFenceBytes) return damaged("longer than 8192 bytes");
  if (of_another_version(bytes)) {
    return fail(Code::damaged, "the sidecar of a fenced file was written by a newer tenure, in a format of its own",
                "write with that version of tenure");
  }
  if (!bytes.starts_with(kBegin)) return damaged("it does not begin with \"tenure-fence 1\"");
  if (!bytes.ends_with('\n')) return damaged("its line does not end");
  const std::string_view line = bytes.substr(0, bytes.size() - 1);
  const std::string_view body = line.substr(0, line.rfind(' '));
  if (body.size() < kBegin.size() || crc32_hex(body) != line.substr(body.size() + 1)) {
    return damaged("its checksum is wrong");
  }
  const auto record = record_of(body.substr(kBegin.size()));
  // A line that says the same in another way was not written by us.
  if (!record || encode(*record) != bytes) return damaged("not an epoch, a key and a space");
  if (record->epoch.none()) return damaged("its epoch is 0");
  if (!record->epoch.credible()) return damaged("its epoch is 2^53 or more");
  return *record;
}

FenceNames fence_names(std::string_view file_name) {
  const std::string stem = "." + (plain(file_name) ? std::string(file_name) : "~" + sha256_hex(file_name));
  return {stem + std::string(kRecord), stem + std::string(kLock), stem + std::string(kTemporary),
          stem + std::string(kDraft)};
}

bool is_fence_name(std::string_view file_name) {
  if (!file_name.starts_with('.')) return false;
  std::string_view rest = file_name.substr(1);
  for (const std::string_view ending : {kRecord, kLock, kTemporary, kNewLock}) {
    if (rest.ends_with(ending)) return stem(rest.substr(0, rest.size() - ending.size()));
  }
  if (rest.empty() || rest.back() < '0' || rest.back() >= '0' + FenceNames::kDrafts) return false;
  rest.remove_suffix(1);
  return rest.ends_with(kDraft) && stem(rest.substr(0, rest.size() - kDraft.size()));
}

}  // namespace tenure
