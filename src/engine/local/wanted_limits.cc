#include "engine/local/wanted_limits.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/text.h"

namespace tenure::local {
namespace {

constexpr std::string_view kHead = "tenure limits 1";
constexpr char kTemporary[] = "limits.new";
constexpr std::size_t kMostBytes = 4'096;
constexpr std::uint32_t kCellsPerBucket = 8;
constexpr std::uint32_t kFewestBuckets = 64;
constexpr std::uint32_t kMostBuckets = 1u << 24;

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::unexpected<Error> not_understood(std::string_view line) {
  return fail(Code::damaged, "the wanted limits cannot be understood: '" + escape_controls(cut_text(line, 80)) + "'",
              "set them anew: tenure space init --keys N --space URL");
}

}  // namespace

Limits fulfil(const WantedLimits& wanted, const Limits& otherwise) {
  Limits limits = otherwise;
  if (wanted.members) limits.members = *wanted.members;
  if (!wanted.cells) return limits;
  limits.cells = *wanted.cells;
  limits.first_cells = std::min(limits.first_cells, limits.cells);
  limits.buckets = std::clamp(std::bit_ceil(limits.cells / kCellsPerBucket), kFewestBuckets, kMostBuckets);
  return limits;
}

std::string encode(const WantedLimits& wanted) {
  std::string text = std::string(kHead) + "\n";
  if (wanted.cells) text += "cells " + std::to_string(*wanted.cells) + "\n";
  if (wanted.members) text += "members " + std::to_string(*wanted.members) + "\n";
  return text;
}

Result<WantedLimits> decode_limits(std::string_view text) {
  WantedLimits wanted;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (first && line != kHead) return not_understood(line);
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string_view name = line.substr(0, blank), value = line.substr(std::min(blank + 1, line.size()));
    if (!first && name == "cells" && !wanted.cells) {
      wanted.cells = number(value, cells_for(kMostKeys));
      if (!wanted.cells) return not_understood(line);
    } else if (!first && name == "members" && !wanted.members) {
      wanted.members = number(value, kMaxMembers);
      if (!wanted.members) return not_understood(line);
    } else if (!first) {
      return not_understood(line);
    }
    first = false;
  }
  if (first) return not_understood("");
  return wanted;
}

Result<WantedLimits> read_limits(env::Directory& directory) {
  auto content = directory.read(kLimitsName, kMostBytes);
  if (!content) return fail(content.error());
  if (!*content) return WantedLimits{};
  return decode_limits((*content)->bytes);
}

Result<void> keep_limits(env::Directory& directory, const WantedLimits& wanted) {
  auto kept = read_limits(directory);
  if (!kept && kept.error().code != Code::damaged) return fail(kept.error());
  WantedLimits next = kept ? *kept : WantedLimits{};
  if (wanted.cells) next.cells = wanted.cells;
  if (wanted.members) next.members = wanted.members;
  if (kept && next == *kept) return {};
  if (auto done = directory.replace(kLimitsName, kTemporary, encode(next), true); !done) return done;
  return directory.sync();
}

}  // namespace tenure::local
