#include "model/receiver_sidecar.h"

#include <charconv>

#include "base/limits.h"
#include "model/bounded_text.h"
#include "model/checksum.h"
#include "model/json_reader.h"
#include "model/json_writer.h"
#include "model/record_parts.h"

namespace tenure {
namespace {

static_assert(kMaxSidecarBytes == limits::kRecordBytes);

constexpr std::int64_t kSidecarVersion = 1;
constexpr std::string_view kSlotBegin = "tenure-epoch 1 ";

void write_labels(JsonWriter& out, const ReceiverSidecar& sidecar) {
  out.text("owner", sidecar.owner);
  out.text("part", sidecar.part);
  out.text("reason", sidecar.reason);
  out.text("at_loss", record_parts::word_of(sidecar.at_loss));
  out.text("host", sidecar.host);
  out.text("user_name", sidecar.user_name);
  out.text("command", sidecar.command);
  out.text("directory", sidecar.directory);
  out.text("channel", sidecar.channel);
  out.text("owner_version", sidecar.version);
}

void read_labels(JsonReader& reader, ReceiverSidecar& sidecar) {
  sidecar.owner = reader.text("owner");
  sidecar.part = reader.text("part");
  sidecar.reason = reader.text("reason");
  sidecar.at_loss = record_parts::read_at_loss(reader);
  sidecar.host = reader.text("host");
  sidecar.user_name = reader.text("user_name");
  sidecar.command = reader.text("command");
  sidecar.directory = reader.text("directory");
  sidecar.channel = reader.text("channel");
  sidecar.version = reader.text("owner_version");
}

ClaimId read_claim(JsonReader& reader) {
  const auto claim = ClaimId::parse(reader.text("claim_id"));
  if (!claim || claim->none()) reader.complain("claim_id", "is not a claim id");
  return claim.value_or(ClaimId{});
}

void read_sidecar(JsonReader& reader, ReceiverSidecar& sidecar) {
  if (!check_version(reader, kSidecarVersion)) return;
  sidecar.generation = reader.text("generation");
  if (sidecar.generation.empty()) reader.complain("generation", "is empty");
  sidecar.epoch = Epoch(reader.number("epoch", Epoch::kLimit - 1));
  if (sidecar.epoch.none()) reader.complain("epoch", "is 0");
  sidecar.claim = read_claim(reader);
  sidecar.process = record_parts::read_process(reader, "process");
  sidecar.owner_process = record_parts::read_owner_process(reader);
  sidecar.life = record_parts::read_life(reader);
  read_labels(reader, sidecar);
  sidecar.since_ms = reader.signed_number("since_ms");
}

// ---- slots of the counter -----------------------------------------------------------------------------------------

std::optional<std::uint64_t> take_slot_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return number;
}

// What says the same in another way was not written by us: only the two numbers are read, the rest is compared.
std::optional<EpochSlot> decode_slot(std::string_view half) {
  if (half.size() != kEpochSlotBytes || !half.starts_with(kSlotBegin)) return std::nullopt;
  std::string_view rest = half.substr(kSlotBegin.size());
  const auto epoch = take_slot_number(rest);
  const auto folder = take_slot_number(rest);
  if (!epoch || !folder) return std::nullopt;
  const EpochSlot slot{Epoch(*epoch), *folder};
  if (!slot.epoch.credible() || encode_epoch_slot(slot) != half) return std::nullopt;
  return slot;
}

}  // namespace

ReceiverSidecar bounded(const ReceiverSidecar& sidecar) {
  ReceiverSidecar out = sidecar;
  out.process = record_parts::bounded(std::move(out.process));
  if (out.owner_process) out.owner_process = record_parts::bounded(*std::move(out.owner_process));
  for (std::string* label : {&out.generation, &out.owner, &out.part, &out.channel, &out.version}) {
    *label = bounded_text(*label, limits::kLabelBytes);
  }
  out.reason = bounded_text(out.reason, limits::kReasonBytes);
  out.host = bounded_text(out.host, limits::kHostBytes);
  out.user_name = bounded_text(out.user_name, limits::kUserNameBytes);
  out.command = bounded_text(out.command, limits::kCommandBytes);
  out.directory = bounded_text(out.directory, record_parts::kDirectoryBytes);
  return out;
}

std::string encode(const ReceiverSidecar& sidecar) {
  const ReceiverSidecar written = bounded(sidecar);
  JsonWriter out;
  out.open_object();
  out.number("version", kSidecarVersion);
  out.text("generation", written.generation);
  out.number("epoch", written.epoch.value());
  out.text("claim_id", written.claim.text());
  record_parts::write_processes(out, written.process, written.owner_process);
  record_parts::write_life(out, written.life);
  write_labels(out, written);
  out.number("since_ms", written.since_ms);
  out.close_object();
  return out.finish();
}

Result<ReceiverSidecar> decode_receiver_sidecar(std::string_view bytes) {
  static constexpr std::string_view kWhat = "tenure's sidecar of the lease";
  const auto object = parse_json_object(bytes, kMaxSidecarBytes, kWhat);
  if (!object) return fail(object.error());
  std::optional<std::string> complaint;
  JsonReader reader(*object, complaint);
  ReceiverSidecar sidecar;
  read_sidecar(reader, sidecar);
  if (complaint) return fail(Code::damaged, std::string(kWhat) + " is damaged: " + *complaint);
  return sidecar;
}

std::string encode_epoch_slot(const EpochSlot& slot) {
  std::string text = std::string(kSlotBegin) + slot.epoch.text() + " " + std::to_string(slot.folder);
  text += " " + crc32_hex(text);
  text.resize(kEpochSlotBytes - 1, ' ');
  return text + "\n";
}

std::string encode_epoch_slots(const EpochSlot& first, const EpochSlot& second) {
  return encode_epoch_slot(first) + encode_epoch_slot(second);
}

EpochSlots decode_epoch_slots(std::string_view bytes) {
  const auto half = [&](std::size_t offset) {
    return offset < bytes.size() ? bytes.substr(offset, kEpochSlotBytes) : std::string_view{};
  };
  return {decode_slot(half(0)), decode_slot(half(kEpochSlotBytes))};
}

}  // namespace tenure
