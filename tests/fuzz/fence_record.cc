// The sidecar of a fenced file.
#include "model/fence_record.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const std::string_view text = fuzz::text_of(data, size);
  const auto record = decode_fence_record(text);
  if (!record) {
    fuzz::require_refusal(record.error(), Code::damaged);
    return 0;
  }
  fuzz::require(record->epoch.credible() && !record->epoch.none(), "an accepted epoch is above 0 and below 2^53");
  fuzz::require(Key::parse(record->key).has_value(), "an accepted key is one");
  fuzz::require(encode(*record) == text, "an accepted sidecar is what would be written");
  return 0;
}
