#include "model/ceiling_record.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/text.h"
#include "model/checksum.h"

namespace tenure {
namespace {

constexpr std::string_view kBegin = "tenure-ceiling 1 ";
constexpr std::size_t kFields = 7;  // after the beginning, the checksum included

std::unexpected<Error> damaged(std::string_view why) {
  return fail(Code::damaged, "the ceiling of the epochs is damaged: " + std::string(why));
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t blank = text.find(' ');
    fields.push_back(text.substr(0, blank));
    if (blank == std::string_view::npos) return fields;
    text.remove_prefix(blank + 1);
  }
}

std::optional<std::uint64_t> decimal(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<CeilingRecord> record_of(const std::vector<std::string_view>& fields) {
  std::array<std::uint64_t, 5> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = decimal(fields[i]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  const auto id = from_hex(fields[numbers.size()]);
  CeilingRecord record;
  if (!id || id->size() != record.space.size()) return std::nullopt;
  record.bound = Epoch(numbers[0]);
  record.wall_seconds = numbers[1];
  record.folder = {.identity = {.device = numbers[2], .inode = numbers[3]}, .born = numbers[4]};
  std::copy(id->begin(), id->end(), record.space.begin());
  return record;
}

}  // namespace

std::string encode(const CeilingRecord& record) {
  std::string text(kBegin);
  for (const std::uint64_t number : {record.bound.value(), record.wall_seconds, record.folder.identity.device,
                                     record.folder.identity.inode, record.folder.born}) {
    text += std::to_string(number) + " ";
  }
  text += to_hex(record.space);
  return text + " " + crc32_hex(text) + "\n";
}

Result<CeilingRecord> decode_ceiling_record(std::string_view bytes) {
  if (bytes.empty()) return damaged("it is empty");
  if (bytes.size() > kMaxCeilingBytes) return damaged("longer than 256 bytes");
  if (!bytes.starts_with(kBegin)) return damaged("it does not begin with \"tenure-ceiling 1\"");
  if (!bytes.ends_with('\n')) return damaged("its line does not end");
  const std::string_view line = bytes.substr(0, bytes.size() - 1);
  if (crc32_hex(line.substr(0, line.rfind(' '))) != line.substr(line.rfind(' ') + 1)) {
    return damaged("its checksum is wrong");
  }
  const auto fields = split(line.substr(kBegin.size()));
  const auto record = fields.size() == kFields ? record_of(fields) : std::nullopt;
  // A line that says the same in another way was not written by us.
  if (!record || encode(*record) != bytes) return damaged("not the five numbers and the id of a ceiling");
  if (record->bound.none()) return damaged("its bound is 0");
  if (!record->bound.credible()) return damaged("its bound is 2^53 or more");
  if (record->wall_seconds >= kMaxCeilingSeconds) return damaged("it was written in no year that will ever be");
  return *record;
}

}  // namespace tenure
