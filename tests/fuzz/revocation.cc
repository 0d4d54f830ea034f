// The record of a revocation.
#include "fuzz.h"
#include "model/side_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto revocation = decode_revocation(fuzz::text_of(data, size));
  if (!revocation) {
    fuzz::require_refusal(revocation.error(), Code::damaged);
    return 0;
  }
  const std::string written = encode(*revocation);
  const auto again = decode_revocation(written);
  fuzz::require(again && *again == bounded(*revocation), "a revocation comes back as it was, within bounds");
  fuzz::require(encode(*again) == written, "one revocation has one text");
  return 0;
}
