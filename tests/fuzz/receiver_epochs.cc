// The two slots of a receiver namespace's epochs.
#include "fuzz.h"
#include "model/receiver_sidecar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const std::string_view bytes = fuzz::text_of(data, size);
  const EpochSlots slots = decode_epoch_slots(bytes);
  if (slots.first)
    fuzz::require(bytes.starts_with(encode_epoch_slot(*slots.first)), "an accepted half is what we write");
  if (slots.second) {
    fuzz::require(bytes.substr(kEpochSlotBytes).starts_with(encode_epoch_slot(*slots.second)), "and so is the other");
  }
  return 0;
}
