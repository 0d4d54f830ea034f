#include "tenure/handle.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "model/checksum.h"

namespace tenure {
namespace {

constexpr std::string_view kBegin = "tenure1";
constexpr std::size_t kFields = 6;

// The text is a secret: messages name the part that is wrong and never repeat it.
std::unexpected<Error> bad(std::string why) {
  return fail(Code::bad_handle, "not a handle: " + std::move(why),
              "give the whole line that `tenure claim` printed, by TENURE_HANDLE, --handle-file or standard input");
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> fields;
  while (fields.size() <= kFields) {
    const std::size_t colon = text.find(':');
    fields.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  return fields;
}

std::optional<Epoch> parse_epoch(std::string_view digits) {
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end || !Epoch(number).credible()) return std::nullopt;
  return Epoch(number);
}

bool dash_place(std::size_t at) {
  return at == 8 || at == 13 || at == 18 || at == 23;
}

}  // namespace

std::optional<ClaimId> ClaimId::parse(std::string_view text) {
  std::string digits;
  if (text.size() == 36) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (dash_place(i) != (text[i] == '-')) return std::nullopt;
      if (!dash_place(i)) digits.push_back(text[i]);
    }
  } else {
    digits = text;
  }
  if (digits.size() != 32) return std::nullopt;
  const auto bytes = from_hex(digits);
  if (!bytes) return std::nullopt;
  std::array<std::uint8_t, 16> id{};
  std::ranges::copy(*bytes, id.begin());
  return ClaimId(id);
}

std::string ClaimId::text() const {
  return to_hex(bytes_);
}

Result<Handle> Handle::parse(std::string_view text) {
  if (text.size() > limits::kHandleBytes) return bad("longer than 8192 bytes");
  const std::string_view line = trim(text);
  if (line.empty()) return bad("it is empty");
  const auto fields = split(line);
  if (fields.front() != kBegin) return bad("it does not begin with \"tenure1:\"");
  if (fields.size() != kFields) return bad("it does not have six parts");
  const std::string_view body = line.substr(0, line.size() - fields[5].size() - 1);
  if (crc32_hex(body) != fields[5]) return bad("its checksum is wrong, so a part is missing or changed");
  if (fields[1].size() != 32) return bad("its claim id is not 32 hex digits");
  const auto claim = ClaimId::parse(fields[1]);
  if (!claim) return bad("its claim id is not 32 hex digits");
  const auto epoch = parse_epoch(fields[2]);
  if (!epoch) return bad("its epoch is not a number below 2^53");
  const auto key_text = percent_decode(fields[3]);
  auto key = key_text ? Key::parse(*key_text) : fail(Code::bad_handle, "");
  if (!key) return bad("its key is not a key");
  auto space = percent_decode(fields[4]);
  if (!space || space->empty() || space->size() > limits::kUrlBytes || fault_in_text(*space)) {
    return bad("its space is not the URL of a space");
  }
  return Handle{*std::move(key), *claim, *epoch, *std::move(space)};
}

std::string Handle::text() const {
  const std::string body = std::string(kBegin) + ":" + claim.text() + ":" + epoch.text() + ":" +
                           percent_encode(key.text()) + ":" + percent_encode(space);
  return body + ":" + crc32_hex(body);
}

}  // namespace tenure
