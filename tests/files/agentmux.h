// AgentMux as a process of the fake world: its lease store, written anew from the facts of its format. It shares no
// code with our codecs or rules, so that what both sides believe about one folder is compared and not merely repeated.
//
// Read, decide and write happen under flock on <id>.lock; the counter is written before the lease; release unlinks;
// a lease silent for more than 15 s by the reader's wall clock is free; so is one of this host whose pid does not run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "env/directory.h"
#include "env/environment.h"

namespace tenure::tests {

class AgentMux {
 public:
  // What its builds have written in the course of time.
  enum class Shape : std::uint8_t {
    first,   // no epoch, no host: such a build knows no counter either
    second,  // epoch, host, start time
    third,   // and channel, version, claim id
  };
  struct Lease {
    std::string id;
    std::string boot;
    std::string block;
    std::string claim;
    std::uint64_t epoch = 0;
  };
  // What a refusal, or a look-up, tells of the holder; empty fields: nobody is named.
  struct Holder {
    std::string boot;
    std::string block;
    std::uint32_t pid = 0;
    std::string channel;
    std::string version;
  };

  AgentMux(std::unique_ptr<env::Directory> directory, env::Environment environment, Shape shape = Shape::third);

  std::optional<Lease> claim(const std::string& id, const std::string& boot, const std::string& block);
  bool renew(const Lease& lease);
  bool verify(const Lease& lease);
  // True when there was a lease of ours to unlink.
  bool release(const Lease& lease);
  std::optional<Holder> live_holder_other_than(const std::string& id, const std::string& boot);

  // Of the last claim that was refused.
  const Holder& refused_by() const { return refused_by_; }

  // The text of a lease in one of the three shapes.
  struct Text;

 private:
  struct Found;
  Found read(const std::string& id);
  bool fresh(std::int64_t stamp_ms) const;
  bool dead(const Text& text) const;
  static bool mine(const Found& found, const Lease& lease);
  std::uint64_t counter(const std::string& id);
  void write(const std::string& name, const std::string& text);

  const std::unique_ptr<env::Directory> directory_;
  const env::Environment environment_;
  const Shape shape_;
  Holder refused_by_;
  int made_ = 0;
};

struct AgentMux::Text {
  std::string instance_id;
  std::string owner_boot_id;
  std::string block_id;
  std::uint32_t pid = 0;
  std::int64_t acquired_at_ms = 0;
  std::int64_t renewed_at_ms = 0;
  std::uint64_t epoch = 0;
  std::string hostname;
  std::uint64_t pid_start_s = 0;
  std::string channel;
  std::string version;
  std::string claim_id;

  std::string in(Shape shape) const;
  static std::optional<Text> parse(const std::string& json);
};

}  // namespace tenure::tests
