#include "files/agentmux.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>

namespace tenure::tests {
namespace {

constexpr std::int64_t kTtlMs = 15'000;
constexpr std::size_t kMost = std::size_t{64} * 1024;

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";  // the tests use no character that needs an escape
}

template <class T>
T number(const boost::json::object& object, const char* name) {
  const auto* value = object.if_contains(name);
  return value == nullptr ? T{} : value->to_number<T>();
}

std::string text(const boost::json::object& object, const char* name) {
  const auto* value = object.if_contains(name);
  return value == nullptr ? std::string{} : std::string(value->as_string());
}

}  // namespace

std::string AgentMux::Text::in(Shape shape) const {
  std::string json = "{\n";
  const auto field = [&](const char* name, const std::string& value) {
    json += (json.size() > 2 ? ",\n  \"" : "  \"") + std::string(name) + "\": " + value;
  };
  field("instance_id", quoted(instance_id));
  field("owner_boot_id", quoted(owner_boot_id));
  field("block_id", quoted(block_id));
  field("session_id", "null");
  field("pid", std::to_string(pid));
  field("acquired_at_ms", std::to_string(acquired_at_ms));
  field("renewed_at_ms", std::to_string(renewed_at_ms));
  if (shape != Shape::first) {
    field("epoch", std::to_string(epoch));
    field("hostname", quoted(hostname));
    field("pid_start_s", std::to_string(pid_start_s));
  }
  if (shape == Shape::third) {
    field("channel", quoted(channel));
    field("version", quoted(version));
    field("claim_id", quoted(claim_id));
  }
  return json + "\n}\n";
}

std::optional<AgentMux::Text> AgentMux::Text::parse(const std::string& json) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(json, error);
  if (error || !value.is_object()) return std::nullopt;
  const auto& object = value.as_object();
  for (const char* required : {"instance_id", "owner_boot_id", "block_id", "pid", "acquired_at_ms", "renewed_at_ms"}) {
    if (!object.contains(required)) return std::nullopt;
  }
  Text read;
  read.instance_id = text(object, "instance_id");
  read.owner_boot_id = text(object, "owner_boot_id");
  read.block_id = text(object, "block_id");
  read.pid = number<std::uint32_t>(object, "pid");
  read.acquired_at_ms = number<std::int64_t>(object, "acquired_at_ms");
  read.renewed_at_ms = number<std::int64_t>(object, "renewed_at_ms");
  read.epoch = number<std::uint64_t>(object, "epoch");
  read.hostname = text(object, "hostname");
  read.pid_start_s = number<std::uint64_t>(object, "pid_start_s");
  read.channel = text(object, "channel");
  read.version = text(object, "version");
  read.claim_id = text(object, "claim_id");
  return read;
}

// A lease file that is there and cannot be read has a modification time alone.
struct AgentMux::Found {
  bool there = false;
  std::optional<Text> text;
  std::int64_t modified_ms = 0;
};

AgentMux::AgentMux(std::unique_ptr<env::Directory> directory, env::Environment environment, Shape shape)
    : directory_(std::move(directory)), environment_(std::move(environment)), shape_(shape) {}

AgentMux::Found AgentMux::read(const std::string& id) {
  auto content = directory_->read(id + ".lease.json", kMost);
  if (!content) {
    ADD_FAILURE() << content.error().message;
    return {};
  }
  if (!*content) return {};
  return {true, Text::parse((*content)->bytes), (*content)->modified.milliseconds()};
}

bool AgentMux::fresh(std::int64_t stamp_ms) const {
  return std::max<std::int64_t>(0, environment_.clock->wall().milliseconds() - stamp_ms) <= kTtlMs;
}

bool AgentMux::dead(const Text& text) const {
  if (text.hostname.empty() || text.hostname != environment_.processes->self().host || text.pid == 0) return false;
  const ProcessSight sight = environment_.processes->look(static_cast<std::int32_t>(text.pid));
  if (sight.stat != ProcessSight::Stat::read) return true;
  return text.pid_start_s != 0 && text.pid_start_s != sight.start_wall_seconds;
}

bool AgentMux::mine(const Found& found, const Lease& lease) {
  if (!found.text || found.text->owner_boot_id != lease.boot) return false;
  const Text& text = *found.text;
  return (text.block_id.empty() || text.block_id == lease.block) &&
         (text.claim_id.empty() || text.claim_id == lease.claim);
}

std::uint64_t AgentMux::counter(const std::string& id) {
  auto content = directory_->read(id + ".epoch", kMost);
  if (!content || !*content) return 0;
  std::uint64_t value = 0;  // whatever is no number counts as 0
  const std::string& bytes = (*content)->bytes;
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
  return value;
}

void AgentMux::write(const std::string& name, const std::string& text) {
  auto written = directory_->replace(name, ".registry-tmp-" + std::to_string(++made_) + ".json", text, true);
  EXPECT_TRUE(written) << written.error().message;
}

std::optional<AgentMux::Lease> AgentMux::claim(const std::string& id, const std::string& boot,
                                               const std::string& block) {
  auto section = directory_->lock(id + ".lock", std::chrono::hours(1), nullptr);
  EXPECT_TRUE(section);
  const Found found = read(id);
  std::uint64_t epoch = 0;
  refused_by_ = {};
  if (found.text) {
    const Text& was = *found.text;
    const bool own = was.owner_boot_id == boot;
    if (own && (was.block_id.empty() || was.block_id == block)) {
      epoch = was.epoch;
    } else if (fresh(was.renewed_at_ms) && (own || !dead(was))) {
      refused_by_ = {was.owner_boot_id, was.block_id, was.pid, was.channel, was.version};
      return std::nullopt;
    }
  } else if (found.there && fresh(found.modified_ms)) {
    return std::nullopt;
  }
  if (epoch == 0 && shape_ != Shape::first) {
    epoch = std::max(counter(id), found.text ? found.text->epoch : 0) + 1;
    write(id + ".epoch", std::to_string(epoch) + "\n");
  }
  const Standpoint& self = environment_.processes->self();
  const std::int64_t now = environment_.clock->wall().milliseconds();
  Text text{id,       boot,     block, static_cast<std::uint32_t>(self.identity.pid), now, now, epoch, self.host, 0,
            "stable", "0.44.2", ""};
  text.pid_start_s = environment_.processes->look(self.identity.pid).start_wall_seconds;
  std::string number = std::to_string(++made_);
  number.insert(0, 12 - number.size(), '0');
  if (shape_ == Shape::third) text.claim_id = "0f8fad5b-d9cb-469f-" + boot.substr(boot.size() - 4) + "-" + number;
  write(id + ".lease.json", text.in(shape_));
  return Lease{id, boot, block, text.claim_id, epoch};
}

bool AgentMux::renew(const Lease& lease) {
  auto section = directory_->lock(lease.id + ".lock", std::chrono::hours(1), nullptr);
  EXPECT_TRUE(section);
  Found found = read(lease.id);
  if (!mine(found, lease)) return false;
  found.text->renewed_at_ms = environment_.clock->wall().milliseconds();
  write(lease.id + ".lease.json", found.text->in(shape_));
  return true;
}

bool AgentMux::verify(const Lease& lease) {
  auto section = directory_->lock(lease.id + ".lock", std::chrono::hours(1), nullptr);
  EXPECT_TRUE(section);
  return mine(read(lease.id), lease);
}

bool AgentMux::release(const Lease& lease) {
  auto section = directory_->lock(lease.id + ".lock", std::chrono::hours(1), nullptr);
  EXPECT_TRUE(section);
  if (!mine(read(lease.id), lease)) return false;
  auto removed = directory_->remove(lease.id + ".lease.json");
  return removed && *removed;
}

std::optional<AgentMux::Holder> AgentMux::live_holder_other_than(const std::string& id, const std::string& boot) {
  auto section = directory_->lock(id + ".lock", std::chrono::hours(1), nullptr);
  EXPECT_TRUE(section);
  const Found found = read(id);
  if (!found.there) return std::nullopt;
  if (!found.text) return fresh(found.modified_ms) ? std::optional(Holder{}) : std::nullopt;
  const Text& text = *found.text;
  if (text.owner_boot_id == boot || !fresh(text.renewed_at_ms) || dead(text)) return std::nullopt;
  return Holder{text.owner_boot_id, text.block_id, text.pid, text.channel, text.version};
}

}  // namespace tenure::tests
