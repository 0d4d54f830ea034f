// The handle. As with notes, each input is tried a second time with its checksum put right.
#include "tenure/handle.h"

#include "fuzz.h"
#include "model/checksum.h"

namespace {

// Thirty-two hex digits in a row.
bool has_secret(std::string_view text) {
  int digits = 0;
  for (const char c : text) {
    digits = tenure::hex_value(c) < 0 ? 0 : digits + 1;
    if (digits == 32) return true;
  }
  return false;
}

void try_one(std::string_view text) {
  using namespace tenure;
  const auto handle = Handle::parse(text);
  if (!handle) {
    fuzz::require_refusal(handle.error(), Code::bad_handle);
    fuzz::require(!has_secret(handle.error().message), "the refusal does not repeat the secret");
    return;
  }
  const std::string written = handle->text();
  fuzz::require(written.find_first_of(" \t\r\n") == std::string::npos, "a handle is one word");
  const auto again = Handle::parse(written);
  fuzz::require(again.has_value(), "what we write, we read");
  fuzz::require(again->key == handle->key && again->claim == handle->claim && again->epoch == handle->epoch &&
                    again->space == handle->space,
                "a handle comes back as it was");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(tenure::fuzz::text_of(data, size));
  try_one(text);
  const std::string body = "tenure1:" + text;
  try_one(body + ":" + tenure::crc32_hex(body));
  const auto claim = tenure::ClaimId::parse(text);
  if (claim) tenure::fuzz::require(tenure::ClaimId::parse(claim->text()) == claim, "a claim id comes back as it was");
  return 0;
}
