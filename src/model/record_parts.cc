#include "model/record_parts.h"

#include "model/bounded_text.h"

namespace tenure::record_parts {

ProcessIdentity bounded(ProcessIdentity process) {
  process.boot_id = bounded_text(process.boot_id, kIdBytes);
  process.machine_id = bounded_text(process.machine_id, kIdBytes);
  return process;
}

void write_process(JsonWriter& out, std::string_view key, const ProcessIdentity& process) {
  out.open_object(key);
  out.number("pid", process.pid);
  out.big_number("start_ticks", process.start_ticks);
  out.text("boot_id", process.boot_id);
  out.text("machine_id", process.machine_id);
  out.big_number("pid_namespace", process.pid_namespace);
  out.big_number("time_namespace", process.time_namespace);
  out.number("user", process.user);
  out.close_object();
}

void write_processes(JsonWriter& out, const ProcessIdentity& process, const std::optional<ProcessIdentity>& owner) {
  write_process(out, "process", process);
  if (owner) {
    write_process(out, "owner_process", *owner);
  } else {
    out.null("owner_process");
  }
}

ProcessIdentity read_process(JsonReader& parent, std::string_view name) {
  ProcessIdentity process;
  const boost::json::object* object = parent.object(name);
  if (object == nullptr) return process;
  JsonReader reader(*object, parent.complaint(), parent.full(name) + ".");
  process.pid = static_cast<std::int32_t>(reader.signed_number("pid", -kMaxPid - 1, kMaxPid));
  process.start_ticks = reader.big_number("start_ticks", kMaxU64);
  process.boot_id = reader.text("boot_id");
  process.machine_id = reader.text("machine_id");
  process.pid_namespace = reader.big_number("pid_namespace", kMaxU64);
  process.time_namespace = reader.big_number("time_namespace", kMaxU64);
  process.user = static_cast<std::uint32_t>(reader.number("user", kMaxU32));
  return process;
}

std::optional<ProcessIdentity> read_owner_process(JsonReader& parent) {
  if (!parent.has_value("owner_process")) return std::nullopt;
  return read_process(parent, "owner_process");
}

void write_life(JsonWriter& out, const FileIdentity& life) {
  out.open_object("life");
  out.big_number("device", life.device);
  out.big_number("inode", life.inode);
  out.close_object();
}

FileIdentity read_life(JsonReader& parent) {
  const boost::json::object* object = parent.object("life");
  if (object == nullptr) return {};
  JsonReader reader(*object, parent.complaint(), parent.full("life") + ".");
  const std::uint64_t device = reader.big_number("device", kMaxU64);
  return {.device = device, .inode = reader.big_number("inode", kMaxU64)};
}

std::string_view word_of(AtLoss at_loss) {
  switch (at_loss) {
    case AtLoss::kill:
      return "kill";
    case AtLoss::warn:
      return "warn";
    case AtLoss::terminate:
      break;
  }
  return "terminate";
}

AtLoss read_at_loss(JsonReader& reader) {
  const std::string word = reader.text("at_loss");
  for (const AtLoss at_loss : {AtLoss::terminate, AtLoss::kill, AtLoss::warn}) {
    if (word == word_of(at_loss)) return at_loss;
  }
  reader.complain("at_loss", "is none of terminate, kill, warn");
  return AtLoss::terminate;
}

}  // namespace tenure::record_parts
