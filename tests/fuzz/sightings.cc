// The list of sightings.
#include "fuzz.h"
#include "model/side_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto sightings = decode_sightings(fuzz::text_of(data, size));
  if (!sightings) {
    fuzz::require_refusal(sightings.error(), Code::damaged);
    return 0;
  }
  fuzz::require(sightings->size() <= kMaxSightings, "an accepted list is within its bound");
  const std::string written = encode(*sightings);
  const auto again = decode_sightings(written);
  fuzz::require(again && again->size() == sightings->size(), "a list comes back with all its entries");
  fuzz::require(encode(*again) == written, "one list has one text");
  for (std::size_t i = 0; i < again->size(); ++i) {
    const Sighting& before = (*sightings)[i];
    fuzz::require((*again)[i].first_seen == before.first_seen, "a stamp comes back as it was");
    fuzz::require(before.digest.starts_with((*again)[i].digest), "a digest comes back as it was, or cut");
    if (written.size() < 200) fuzz::require((*again)[i] == before, "a short entry comes back as it was");
  }
  return 0;
}
