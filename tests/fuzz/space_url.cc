// The URL of a space.
#include "compose/space_url.h"

#include "base/limits.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const auto url = compose::parse_space_url(fuzz::text_of(data, size));
  if (!url) {
    const bool not_built = url.error().code == Code::unsupported;
    fuzz::require_refusal(url.error(), not_built ? Code::unsupported : Code::bad_url);
    return 0;
  }
  fuzz::require(!fault_in_text(url->folder), "an accepted folder is one line of text");
  const std::string written = compose::text_of(*url);
  fuzz::require(!fault_in_text(written), "a written URL is one line of text");
  // Unusual characters take three bytes each when they are written, so a URL near the limit can grow beyond it.
  if (written.size() > limits::kUrlBytes) return 0;
  const auto again = compose::parse_space_url(written);
  fuzz::require(again && *again == *url, "a URL comes back as it was");
  fuzz::require(compose::text_of(*again) == written, "one space has one text");
  return 0;
}
