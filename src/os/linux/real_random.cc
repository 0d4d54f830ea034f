#include "os/linux/real_random.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "os/linux/fd.h"
#include "os/linux/system_error.h"

namespace tenure::os {

Result<void> RealRandom::fill(std::span<std::uint8_t> out) {
  const std::span<std::uint8_t> all = out;
  while (!out.empty()) {
    const ssize_t got = retry_interrupted([&] { return getrandom(out.data(), out.size(), 0); });
    if (got <= 0) {
      const int error = got == 0 ? EIO : errno;
      // Nobody shall mistake half of it for all of it.
      std::fill(all.begin(), all.end(), std::uint8_t{0});
      return fail(Code::no_randomness, "the system gave no random bytes: " + system_words(error),
                  "allow getrandom(2) to this process");
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace tenure::os
