// The epoch counter.
#include "fuzz.h"
#include "model/side_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto epoch = decode_epoch_file(fuzz::text_of(data, size));
  if (!epoch) {
    fuzz::require_refusal(epoch.error(), Code::damaged);
    return 0;
  }
  fuzz::require(epoch->credible(), "an accepted epoch is below 2^53");
  const auto again = decode_epoch_file(encode_epoch_file(*epoch));
  fuzz::require(again && *again == *epoch, "an epoch comes back as it was");
  return 0;
}
