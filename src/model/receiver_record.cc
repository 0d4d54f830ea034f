#include "model/receiver_record.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/limits.h"
#include "base/text.h"
#include "model/json_reader.h"
#include "model/json_writer.h"
#include "model/node_text.h"

namespace tenure {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kShownKeyBytes = 64;

static_assert(kMaxReceiverBytes >= limits::kRecordOverhead + limits::kJsonGrowth * (2 * limits::kPathBytes) +
                                       limits::kJsonGrowth * (limits::kHostBytes + 3 * limits::kLabelBytes),
              "an owner record of the longest paths, host and labels must fit its bound");

constexpr std::array<std::string_view, 8> kGuardKeys = {
    "schema", "generation", "pid", "processStartIdentity", "bootIdentity", "executable", "hostname", "createdAt"};
constexpr std::array<std::string_view, 11> kOwnerKeys = {
    "schema",       "generation", "piSessionId", "piSessionFile", "pid",      "processStartIdentity",
    "bootIdentity", "executable", "hostname",    "rootId",        "createdAt"};

// ---- writing ------------------------------------------------------------------------------------------------------

void write_generation(JsonWriter& out, const ReceiverProcess& process) {
  out.number("schema", kSchema);
  out.text("generation", node_text(process.generation));
}

void write_identity(JsonWriter& out, const ReceiverProcess& process) {
  out.number("pid", process.pid);
  out.text("processStartIdentity", node_text(process.start_identity));
  if (process.boot_identity) {
    out.text("bootIdentity", node_text(*process.boot_identity));
  } else {
    out.null("bootIdentity");
  }
  out.text("executable", node_text(process.executable));
  out.text("hostname", node_text(process.hostname));
}

// ---- reading ------------------------------------------------------------------------------------------------------

std::string read_filled(JsonReader& reader, std::string_view name) {
  std::string text = reader.text(name);
  if (text.empty()) reader.complain(name, "is empty");
  return text;
}

std::string read_path(JsonReader& reader, std::string_view name) {
  const std::string path = read_filled(reader, name);
  if (!path.starts_with('/')) {
    reader.complain(name, "is not an absolute path");
    return {};
  }
  return node_normalized(path);
}

std::uint64_t read_pid(JsonReader& reader) {
  const std::uint64_t pid = reader.number("pid", kMaxReceiverPid);
  if (pid == 0) reader.complain("pid", "is 0");
  return pid;
}

// There, and null or filled.
std::optional<std::string> read_boot(JsonReader& reader) {
  if (reader.has("bootIdentity") && !reader.has_value("bootIdentity")) return std::nullopt;
  return read_filled(reader, "bootIdentity");
}

std::string read_date(JsonReader& reader) {
  std::string text = read_filled(reader, "createdAt");
  if (!parse_receiver_date(text)) reader.complain("createdAt", "is not a date");
  return text;
}

void check_schema(JsonReader& reader) {
  const std::int64_t schema = reader.signed_number("schema");
  if (schema != kSchema) {
    reader.complain("schema", "is " + std::to_string(schema) + ", and only " + std::to_string(kSchema) + " is known");
  }
}

void check_keys(JsonReader& reader, const boost::json::object& object, std::span<const std::string_view> known) {
  for (const auto& member : object) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(known, key) != known.end()) continue;
    reader.complain(escape_controls(cut_text(key, kShownKeyBytes)), "does not belong there");
  }
}

ReceiverProcess read_shared(JsonReader& reader) {
  ReceiverProcess process;
  process.generation = read_filled(reader, "generation");
  process.pid = read_pid(reader);
  process.start_identity = read_filled(reader, "processStartIdentity");
  process.boot_identity = read_boot(reader);
  process.executable = read_path(reader, "executable");
  process.hostname = read_filled(reader, "hostname");
  process.created_at = read_date(reader);
  return process;
}

// Another schema is told of before the fields that it may have changed.
template <class Record, class Read>
Result<Record> decode_record(std::string_view bytes, std::string_view what, std::span<const std::string_view> keys,
                             const Read& read) {
  const auto object = parse_json_object(bytes, kMaxReceiverBytes, what);
  if (!object) return fail(object.error());
  std::optional<std::string> complaint;
  JsonReader reader(*object, complaint);
  check_schema(reader);
  check_keys(reader, *object, keys);
  Record record = read(reader);
  if (complaint) return fail(Code::damaged, std::string(what) + " is damaged: " + *complaint);
  return record;
}

}  // namespace

std::string encode(const ReceiverOwner& owner) {
  JsonWriter out;
  out.open_object();
  write_generation(out, owner.process);
  out.text("piSessionId", node_text(owner.session_id));
  out.text("piSessionFile", node_text(owner.session_file));
  write_identity(out, owner.process);
  out.text("rootId", node_text(owner.root_id));
  out.text("createdAt", node_text(owner.process.created_at));
  out.close_object();
  return out.finish();
}

std::string encode(const ReceiverProcess& process) {
  JsonWriter out;
  out.open_object();
  write_generation(out, process);
  write_identity(out, process);
  out.text("createdAt", node_text(process.created_at));
  out.close_object();
  return out.finish();
}

Result<ReceiverOwner> decode_receiver_owner(std::string_view bytes) {
  return decode_record<ReceiverOwner>(bytes, "the owner record", kOwnerKeys, [](JsonReader& reader) {
    ReceiverOwner owner;
    owner.process = read_shared(reader);
    owner.session_id = read_filled(reader, "piSessionId");
    owner.session_file = read_path(reader, "piSessionFile");
    owner.root_id = read_filled(reader, "rootId");
    return owner;
  });
}

Result<ReceiverProcess> decode_receiver_guard(std::string_view bytes) {
  return decode_record<ReceiverProcess>(bytes, "the guard record", kGuardKeys, read_shared);
}

std::optional<ReceiverProcess> remains_of_receiver(std::string_view bytes) {
  const auto object = parse_json_object(bytes, kMaxReceiverBytes, "the record");
  if (!object) return std::nullopt;
  std::optional<std::string> complaint;
  JsonReader reader(*object, complaint);
  ReceiverProcess process;
  process.pid = read_pid(reader);
  process.start_identity = read_filled(reader, "processStartIdentity");
  process.boot_identity = read_boot(reader);
  process.hostname = read_filled(reader, "hostname");
  if (complaint) return std::nullopt;
  return process;
}

}  // namespace tenure
