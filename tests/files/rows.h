// What the tests of rows share: a holder, a contender, and everything that can be put under their feet. Each row is a
// fault that was found in AgentMux's or pi's leases; tests/regress/README.md lists them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "files/agentmux.h"
#include "files/files_world.h"
#include "model/lease_record.h"

namespace tenure::tests {

using namespace std::chrono_literals;
using fakes::Birth;
using fakes::Placed;

inline constexpr Duration kTtl = 15s;
inline constexpr Duration kPast = kTtl + 1ms;

class Rows : public ::testing::Test {
 protected:
  FilesWorld world;
  FilesClient holder = world.client({.command = "holder"});
  std::optional<Grant> held;

  const Grant& hold(std::optional<Duration> ttl = std::nullopt) { return hold_as(holder, ttl); }
  const Grant& hold_as(FilesClient& client, std::optional<Duration> ttl = std::nullopt) {
    ClaimRequest wanted = request("k", "holder");
    wanted.terms.ttl = ttl;
    auto grant = client.engine->try_claim(wanted);
    EXPECT_TRUE(grant) << grant.error().message;
    held = *grant;
    return *held;
  }
  // A claim of a process that was born for it.
  Result<Grant> claim(const Birth& birth = {}) { return claim_of(world.client(birth)); }
  static Result<Grant> claim_of(const FilesClient& client) {
    return client.engine->try_claim(request("k", "contender"));
  }
  Code refusal(const Birth& birth = {}) {
    auto grant = claim(birth);
    return grant ? Code::internal : grant.error().code;
  }
  // The life lock cannot be asked, because somebody took its file: then only the process speaks for the holder.
  void hide_life() { world.disk->erase("k.life"); }
  bool still_mine() { return holder.engine->verify(ref(*held)).has_value(); }
  Observation seen() {
    auto seen = world.client().engine->holder(key("k"));
    EXPECT_TRUE(seen) << seen.error().message;
    return seen.value_or(Observation(key("k")));
  }
  // A lease of AgentMux, as its third version writes it.
  AgentMux::Text foreign(const std::string& host = "host-a", std::uint32_t pid = 31'337) {
    const std::int64_t now = world.clock->wall().milliseconds();
    return {"k", "boot-foreign", "block-1", pid, now, now, 7, host, 1'749'000'000, "stable", "0.44.2", "claim"};
  }
  void place(const AgentMux::Text& text, AgentMux::Shape shape = AgentMux::Shape::third) {
    world.disk->place("k.lease.json", Placed::file, text.in(shape));
    if (text.epoch != 0) world.disk->place("k.epoch", Placed::file, std::to_string(text.epoch) + "\n");
  }
  bool has(const std::string& name) const { return world.disk->bytes(name).has_value(); }
};

}  // namespace tenure::tests
