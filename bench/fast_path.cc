// Does one operation of a local: space many times inside one function, for callgrind to count its instructions:
// fast_path FOLDER OPERATION TIMES. bench/instructions runs it.
#include <cstdlib>
#include <functional>
#include <string_view>

#include "must.h"
#include "tenure/space.h"

// Counted by its name.
extern "C" [[gnu::noinline]] void tenure_measured(const std::function<void()>& operation, long times) {
  for (long each = 0; each < times; ++each) operation();
}

namespace tenure::bench {
namespace {

void run(const std::string& folder, std::string_view name, long times) {
  const Space space = must(Space::open("local:" + folder), "open");
  const Key key = must(Key::parse("bench/key"), "key");
  const auto claim_release = [&] {
    auto lease = space.claim(key);
    if (!lease || !lease->release()) stop_here("claim and release");
  };
  claim_release();  // the first makes what the others use again
  if (name == "claim_release") return tenure_measured(claim_release, times);
  ClaimOptions options;
  if (name == "verify_ttl") {
    options.terms.ttl = std::chrono::hours(1);
  } else if (name != "verify") {
    stop_here("unknown operation");
  }
  Lease lease = must(space.claim(key, options), "claim");
  tenure_measured(
      [&] {
        if (!lease.verify()) stop_here("verify");
      },
      times);
}

}  // namespace
}  // namespace tenure::bench

int main(int count, char** arguments) {
  if (count != 4) tenure::bench::stop_here("usage: fast_path FOLDER OPERATION TIMES");
  tenure::bench::run(arguments[1], arguments[2], std::atol(arguments[3]));
}
