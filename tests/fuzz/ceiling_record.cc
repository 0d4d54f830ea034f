// The durable bound of the epochs.
#include "model/ceiling_record.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const std::string_view text = fuzz::text_of(data, size);
  const auto record = decode_ceiling_record(text);
  if (!record) {
    fuzz::require_refusal(record.error(), Code::damaged);
    return 0;
  }
  fuzz::require(record->bound.credible() && !record->bound.none(), "an accepted bound is above 0 and below 2^53");
  fuzz::require(encode(*record) == text, "an accepted ceiling is what would be written");
  return 0;
}
