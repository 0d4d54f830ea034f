// Does each short operation of a local: space many times between two marks, for strace to see (as files_calls.cc does),
// and counts what it allocates. Prints the allocations of one operation as JSON; bench/compare counts the calls.
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "must.h"
#include "ours.h"
#include "settings.h"

namespace {
thread_local long allocations = 0;
}  // namespace

// In the place of libc's: everything that this thread allocates, by whichever way.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
}

namespace tenure::bench {
namespace {

constexpr int kTimes = 1000;

void mark(const std::string& text) {
  if (::write(-1, text.data(), text.size()) != -1) stop_here("a mark was written somewhere");
}

// The allocations of one.
template <class Operation>
double marked(const std::string& title, Operation operation) {
  operation();  // the first makes what the others use again
  mark("begin local " + title);
  const long before = allocations;
  for (int time = 0; time < kTimes; ++time) operation();
  const long after = allocations;
  mark("end");
  mark("rest");
  return static_cast<double>(after - before) / kTimes;
}

void count_all(const std::string& folder) {
  const Space space = must(Space::open(Ours::local(folder)), "open");
  const Key key = must(Key::parse("counted"), "key");
  const double claims = marked("claim-and-release", [&] {
    auto lease = space.claim(key);
    if (!lease || !lease->release()) stop_here("claim and release");
  });
  Lease lease = must(space.claim(key), "claim");
  const auto verify = [](Lease& held) {
    if (!held.verify()) stop_here("verify");
  };
  const double verifies = marked("verify", [&] { verify(lease); });
  ClaimOptions options;
  options.terms.ttl = std::chrono::hours(1);
  Lease limited = must(space.claim(must(Key::parse("limited"), "key"), options), "claim");
  const double limited_verifies = marked("verify-with-ttl", [&] { verify(limited); });
  std::printf("{\"claim-and-release\": %g, \"verify\": %g, \"verify-with-ttl\": %g}\n", claims, verifies,
              limited_verifies);
}

}  // namespace
}  // namespace tenure::bench

int main(int count, char** arguments) {
  const auto settings = tenure::bench::take_settings(&count, arguments);
  if (count > 1) tenure::bench::stop_here("unknown argument: " + std::string(arguments[1]));
  tenure::bench::count_all(settings.folder);
}
