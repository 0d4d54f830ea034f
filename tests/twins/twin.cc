// What a program sees of one copy: plain functions, found by name.
#include <memory>
#include <optional>

#include "tenure/space.h"

using tenure::ClaimOptions;
using tenure::Code;
using tenure::Key;
using tenure::Lease;
using tenure::Space;

namespace {

struct Twin {
  Space space;
  std::optional<Lease> lease;
};

}  // namespace

extern "C" {

// nullptr: it could not be opened.
void* twin_open(const char* url) {
  auto space = Space::open(url);
  return space ? new Twin{std::move(*space), std::nullopt} : nullptr;
}

// 0: it has the key; 1: another has it; 2: anything else.
int twin_claim(void* opaque, const char* key, int wait_ms) {
  Twin& twin = *static_cast<Twin*>(opaque);
  ClaimOptions options;
  options.wait = std::chrono::milliseconds(wait_ms);
  auto lease = twin.space.claim(*Key::parse(key), options);
  if (!lease) return lease.error().code == Code::held || lease.error().code == Code::timed_out ? 1 : 2;
  twin.lease.emplace(std::move(*lease));
  return 0;
}

bool twin_verify(void* opaque) {
  Twin& twin = *static_cast<Twin*>(opaque);
  return twin.lease && twin.lease->verify();
}

bool twin_release(void* opaque) {
  Twin& twin = *static_cast<Twin*>(opaque);
  const bool released = twin.lease && twin.lease->release().value_or(false);
  twin.lease.reset();
  return released;
}

void twin_close(void* opaque) {
  delete static_cast<Twin*>(opaque);
}
}
