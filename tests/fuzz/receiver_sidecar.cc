// What we keep beside a receiver lease.
#include "model/receiver_sidecar.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto sidecar = decode_receiver_sidecar(fuzz::text_of(data, size));
  if (!sidecar) {
    fuzz::require_refusal(sidecar.error(), Code::damaged);
    return 0;
  }
  fuzz::require(sidecar->epoch.credible() && !sidecar->epoch.none(), "an accepted epoch is above 0 and below 2^53");
  const std::string written = encode(*sidecar);
  fuzz::require(written.size() <= kMaxWrittenSidecarBytes, "a written sidecar is within its bound");
  const auto again = decode_receiver_sidecar(written);
  fuzz::require(again.has_value() && *again == bounded(*sidecar), "a sidecar comes back as it was, within bounds");
  fuzz::require(bounded(*again) == *again, "a bounded sidecar is bounded");
  return 0;
}
