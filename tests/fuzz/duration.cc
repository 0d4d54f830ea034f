// Durations with units.
#include "base/limits.h"
#include "fuzz.h"
#include "tenure/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto duration = parse_duration(fuzz::text_of(data, size));
  if (!duration) {
    fuzz::require_refusal(duration.error(), Code::bad_duration);
    return 0;
  }
  fuzz::require(*duration >= Duration{0} && *duration <= limits::kLongestDuration, "an accepted duration is in range");
  fuzz::require(!words(*duration).empty(), "a duration has words");
  const auto again = parse_duration(std::to_string(duration->count() / 1'000'000) + "ms");
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
  fuzz::require(again && *again == whole, "a duration comes back as it was, to the millisecond");
  return 0;
}
