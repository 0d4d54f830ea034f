#include "model/receiver_sidecar.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/text.h"
#include "model/checksum.h"

namespace tenure {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

ReceiverSidecar sample_sidecar() {
  ReceiverSidecar sidecar;
  sidecar.generation = "tenure-00112233-4455-4677-8899-aabbccddeeff";
  sidecar.epoch = Epoch(Epoch::kLimit - 1);
  sidecar.claim = ClaimId::parse("00112233445566778899aabbccddeeff").value();
  sidecar.process = {4242, kMost, "boot", "machine", 4026531836, 4026531834, 1000};
  sidecar.owner_process = ProcessIdentity{4200, 1, "boot", "machine", 4026531836, 4026531834, 1000};
  sidecar.life = {66306, kMost};
  sidecar.owner = "ada's";
  sidecar.part = "1";
  sidecar.reason = "reason";
  sidecar.at_loss = AtLoss::kill;
  sidecar.host = "workbench";
  sidecar.user_name = "ada";
  sidecar.command = "make deploy";
  sidecar.directory = "/srv/app";
  sidecar.channel = "stable";
  sidecar.version = "1.2";
  sidecar.since_ms = -1;
  return sidecar;
}

std::string changed_once(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_damaged_sidecar(std::string_view from, std::string_view to, std::string_view word) {
  const auto read = decode_receiver_sidecar(changed_once(encode(sample_sidecar()), from, to));
  ASSERT_FALSE(read) << to;
  EXPECT_EQ(read.error().code, Code::damaged);
  EXPECT_NE(read.error().message.find(word), std::string::npos) << read.error().message;
}

TEST(ReceiverSidecar, ComesBackAsItWas) {
  ReceiverSidecar sidecar = sample_sidecar();
  EXPECT_EQ(decode_receiver_sidecar(encode(sidecar)).value(), sidecar);
  sidecar.owner_process.reset();
  EXPECT_EQ(decode_receiver_sidecar(encode(sidecar)).value(), sidecar);
}

TEST(ReceiverSidecar, OthersTextIsCutAndMadeText) {
  ReceiverSidecar sidecar = sample_sidecar();
  for (std::string* text :
       {&sidecar.generation, &sidecar.owner, &sidecar.part, &sidecar.reason, &sidecar.host, &sidecar.user_name,
        &sidecar.command, &sidecar.directory, &sidecar.channel, &sidecar.version, &sidecar.process.boot_id,
        &sidecar.process.machine_id, &sidecar.owner_process->boot_id, &sidecar.owner_process->machine_id}) {
    *text = "\xff" + std::string(100'000, '\1');
  }
  const std::string text = encode(sidecar);
  EXPECT_LE(text.size(), kMaxWrittenSidecarBytes);
  EXPECT_TRUE(valid_utf8(text));
  const ReceiverSidecar read = decode_receiver_sidecar(text).value();
  EXPECT_EQ(read, bounded(sidecar));
  EXPECT_TRUE(read.reason.starts_with("\xef\xbf\xbd\1"));
  // Longest where no character grows.
  for (std::string* part : {&sidecar.generation, &sidecar.owner, &sidecar.reason, &sidecar.directory}) {
    *part = std::string(100'000, 'x');
  }
  EXPECT_EQ(bounded(sidecar).generation.size(), 256U);
  EXPECT_EQ(bounded(sidecar).reason.size(), 1024U);
}

TEST(ReceiverSidecar, EachFieldIsDemanded) {
  expect_damaged_sidecar("\"version\": 1", "\"version\": 2", "a newer program wrote it");
  expect_damaged_sidecar("\"version\": 1", "\"version\": 0", "\"version\"");
  expect_damaged_sidecar("9007199254740991", "0", "\"epoch\" is 0");
  expect_damaged_sidecar("9007199254740991", "9007199254740992", "\"epoch\" is out of range");
  expect_damaged_sidecar("9007199254740991", "\"5\"", "\"epoch\"");
  expect_damaged_sidecar("00112233445566778899aabbccddeeff", "00000000000000000000000000000000", "\"claim_id\"");
  expect_damaged_sidecar("00112233445566778899aabbccddeeff", "0011", "\"claim_id\"");
  expect_damaged_sidecar("\"tenure-00112233-4455-4677-8899-aabbccddeeff\"", "\"\"", "\"generation\" is empty");
  expect_damaged_sidecar("\"kill\"", "\"bury\"", "\"at_loss\"");
  expect_damaged_sidecar("\"pid\": 4242", "\"pid\": \"4242\"", "\"process.pid\"");
  for (const std::string key :
       {"version", "generation",    "epoch",    "claim_id", "process",   "life",       "owner",
        "part",    "reason",        "at_loss",  "host",     "user_name", "command",    "directory",
        "channel", "owner_version", "since_ms", "device",   "inode",     "start_ticks"}) {
    expect_damaged_sidecar("\"" + key + "\":", "\"no_" + key + "\":", key + "\" is ");
  }
}

TEST(ReceiverSidecar, UnknownKeysAreIgnored) {
  const std::string text = changed_once(encode(sample_sidecar()), "{", "{\"later\": [1],");
  EXPECT_EQ(decode_receiver_sidecar(text).value(), sample_sidecar());
}

// ---- tenure.epochs ------------------------------------------------------------------------------------------------

const EpochSlot kFirst{Epoch(17), 131073};
const EpochSlot kSecond{Epoch(18), 131073};

TEST(EpochSlots, BothComeBack) {
  const std::string bytes = encode_epoch_slots(kFirst, kSecond);
  EXPECT_EQ(bytes.size(), 1024U);
  EXPECT_EQ(decode_epoch_slots(bytes), (EpochSlots{kFirst, kSecond}));
  const EpochSlot most{Epoch(Epoch::kLimit - 1), kMost};
  EXPECT_EQ(decode_epoch_slots(encode_epoch_slots(most, EpochSlot{})), (EpochSlots{most, EpochSlot{}}));
  EXPECT_EQ(encode_epoch_slot(kFirst) + encode_epoch_slot(kSecond), bytes);
}

TEST(EpochSlots, ALimitIsKept) {
  EXPECT_FALSE(decode_epoch_slots(encode_epoch_slots({Epoch(Epoch::kLimit), 1}, kSecond)).first);
}

// Any change of a byte is seen in its half, and leaves the other half alone.
TEST(EpochSlots, EveryByteCountsInItsHalf) {
  const std::string whole = encode_epoch_slots(kFirst, kSecond);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ (1U << bit));
      const EpochSlots read = decode_epoch_slots(bytes);
      EXPECT_EQ(read.first, i < 512 ? std::nullopt : std::optional(kFirst)) << i;
      EXPECT_EQ(read.second, i < 512 ? std::optional(kSecond) : std::nullopt) << i;
    }
  }
}

TEST(EpochSlots, OfACutFileTheWholeHalfCounts) {
  const std::string whole = encode_epoch_slots(kFirst, kSecond);
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    const EpochSlots read = decode_epoch_slots(std::string_view(whole).substr(0, i));
    EXPECT_EQ(read.first.has_value(), i >= 512) << i;
    EXPECT_EQ(read.second.has_value(), i == 1024) << i;
  }
  EXPECT_EQ(decode_epoch_slots(whole + "more"), (EpochSlots{kFirst, kSecond}));
}

// A line with a right checksum that says it in another way was not written by us.
TEST(EpochSlots, ThereIsOneWayToWriteASlot) {
  for (const std::string text : {"tenure-epoch 1 017 131073", "tenure-epoch 1 17  131073", "tenure-epoch 1 +17 131073",
                                 "tenure-epoch 2 17 131073", "tenure-epoch 1 17", "tenure-epoch 1 17 131073 0",
                                 "tenure-epoch 1 17 131073\t", "tenure-epoch 1 -1 131073"}) {
    std::string half = text + " " + crc32_hex(text);
    half.resize(511, ' ');
    EXPECT_FALSE(decode_epoch_slots(half + "\n").first) << text;
  }
  std::string plain = "tenure-epoch 1 17 131073";
  plain += " " + crc32_hex(plain);
  plain.resize(511, ' ');
  EXPECT_EQ(decode_epoch_slots(plain + "\n").first, kFirst);
}

}  // namespace
}  // namespace tenure
