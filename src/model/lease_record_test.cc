#include "model/lease_record.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/text.h"

namespace tenure {
namespace {

constexpr std::string_view kRequired = R"("instance_id": "k", "owner_boot_id": "o", "block_id": "b", "session_id": null,
  "pid": 7, "acquired_at_ms": 1000, "renewed_at_ms": 2000)";

std::string record_text(std::string_view more = {}) {
  return "{" + std::string(kRequired) + (more.empty() ? "" : ", ") + std::string(more) + "}";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

LeaseRecord full_record() {
  LeaseRecord record;
  record.instance_id = "deploy/production";
  record.owner_boot_id = "owner";
  record.block_id = "part";
  record.session_id = "session";
  record.pid = 4242;
  record.acquired_at_ms = 1'772'368'496'789;
  record.renewed_at_ms = 1'772'368'501'790;
  record.epoch = Epoch::kLimit - 1;
  record.hostname = "workbench";
  record.channel = "stable";
  record.version = "1.2";
  record.claim_id = "00112233445566778899aabbccddeeff";
  LeaseExtra& extra = record.extra.emplace();
  extra.process = {4242, std::numeric_limits<std::uint64_t>::max(), "boot", "machine", 4026531836, 4026531834, 1000};
  extra.owner_process = ProcessIdentity{4200, 1, "boot", "machine", 4026531836, 4026531834, 1000};
  extra.life = {66306, std::numeric_limits<std::uint64_t>::max()};
  extra.renewed_monotonic = MonotonicTime{Duration{12'345'678'901'234'567}};
  extra.renewed_boot = BootTime{Duration{2}};
  extra.extended_monotonic = MonotonicTime{Duration{3}};
  extra.extended_boot = BootTime{Duration{4}};
  extra.terms = {Mode::shared, 3, std::chrono::seconds(90), "reason", AtLoss::kill};
  extra.user_name = "ada";
  extra.command = "make deploy";
  extra.directory = "/srv/app";
  return record;
}

std::string why_damaged(std::string_view bytes) {
  const auto record = decode_lease_record(bytes);
  if (record) return "it was accepted";
  EXPECT_EQ(record.error().code, Code::damaged);
  EXPECT_FALSE(fault_in_text(record.error().message)) << "the message is one line of text";
  return record.error().message;
}

#define EXPECT_DAMAGED(bytes, words) EXPECT_NE(why_damaged(bytes).find(words), std::string::npos) << why_damaged(bytes)

TEST(LeaseRecord, ComesBackAsItWas) {
  const LeaseRecord record = full_record();
  const auto again = decode_lease_record(encode(record));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, record);
}

TEST(LeaseRecord, WithoutOurObjectIsWrittenWithoutIt) {
  LeaseRecord record = full_record();
  record.extra.reset();
  record.session_id.reset();
  const std::string text = encode(record);
  EXPECT_EQ(text.find("\"tenure\""), std::string::npos);
  EXPECT_EQ(decode_lease_record(text).value(), record);
}

TEST(LeaseRecord, OfTheOldestFormatHasDefaults) {
  const LeaseRecord record = decode_lease_record(record_text()).value();
  EXPECT_EQ(record.instance_id, "k");
  EXPECT_EQ(record.session_id, std::nullopt);
  EXPECT_EQ(record.pid, 7U);
  EXPECT_EQ(record.renewed_at_ms, 2000);
  EXPECT_EQ(record.epoch, 0U);
  EXPECT_EQ(record.hostname + record.channel + record.version + record.claim_id, "");
  EXPECT_EQ(record.pid_start_s, 0U);
  EXPECT_FALSE(record.extra);
}

TEST(LeaseRecord, TakesNumbersAtTheirLimits) {
  std::string text = record_text(R"("epoch": 9007199254740991, "pid_start_s": 18446744073709551615)");
  text = replaced(text, "\"pid\": 7", "\"pid\": 4294967295");
  text = replaced(text, "1000", "-9223372036854775808");
  text = replaced(text, "2000", "9223372036854775807");
  const LeaseRecord record = decode_lease_record(text).value();
  EXPECT_EQ(record.pid, 4294967295U);
  EXPECT_EQ(record.acquired_at_ms, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(record.renewed_at_ms, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(record.epoch, Epoch::kLimit - 1);
  EXPECT_EQ(record.pid_start_s, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(holder_of(record).process.pid, 0) << "no Linux process has such a pid";
}

TEST(LeaseRecord, IgnoresUnknownKeysAndOuterBlanks) {
  const auto record = decode_lease_record("\n " + record_text(R"("later": {"x": [1, null]})") + "   \t\n\n");
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->pid, 7U);
}

TEST(LeaseRecord, IsDamagedWhenItIsNoJsonObject) {
  EXPECT_DAMAGED("", "empty");
  EXPECT_DAMAGED(" \n", "blanks");
  EXPECT_DAMAGED(std::string(64, '\0'), "not JSON");
  EXPECT_DAMAGED("[]", "not a JSON object");
  EXPECT_DAMAGED("null", "not a JSON object");
  EXPECT_DAMAGED("\"text\"", "not a JSON object");
  EXPECT_DAMAGED("{\"pid\": 7,}", "not JSON");
  EXPECT_DAMAGED("// remark\n" + record_text(), "not JSON");
  EXPECT_DAMAGED("\xef\xbb\xbf" + record_text(), "not JSON");
  EXPECT_DAMAGED(record_text() + "{}", "follows");
  EXPECT_DAMAGED(record_text() + std::string(1, '\0'), "follows");
}

// Power loss tears a file at any byte.
TEST(LeaseRecord, IsDamagedWhenCutAnywhere) {
  const std::string whole = encode(full_record());
  for (std::size_t size = 0; size + 2 <= whole.size(); ++size) {
    ASSERT_FALSE(decode_lease_record(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_TRUE(decode_lease_record(std::string_view(whole).substr(0, whole.size() - 1))) << "only the line end is gone";
}

TEST(LeaseRecord, IsDamagedWithoutARequiredField) {
  for (const std::string name :
       {"instance_id", "owner_boot_id", "block_id", "session_id", "pid", "acquired_at_ms", "renewed_at_ms"}) {
    EXPECT_DAMAGED(replaced(record_text(), "\"" + name + "\"", "\"other\""), "\"" + name + "\" is missing");
  }
}

TEST(LeaseRecord, IsDamagedByAFieldOfAnotherType) {
  EXPECT_DAMAGED(replaced(record_text(), "\"k\"", "1"), "\"instance_id\" is not text");
  EXPECT_DAMAGED(replaced(record_text(), "\"o\"", "null"), "\"owner_boot_id\" is not text");
  EXPECT_DAMAGED(replaced(record_text(), "\"b\"", "{}"), "\"block_id\" is not text");
  EXPECT_DAMAGED(replaced(record_text(), "null", "5"), "\"session_id\" is not text");
  for (const std::string pid : {"-1", "1.0", "1.5", "1e3", "\"7\"", "null", "true", "4294967296", "1e400"}) {
    EXPECT_DAMAGED(replaced(record_text(), "\"pid\": 7", "\"pid\": " + pid), "\"pid\" is");
  }
  for (const std::string time : {"9223372036854775808", "-9223372036854775809", "1.0", "\"1000\""}) {
    EXPECT_DAMAGED(replaced(record_text(), "1000", time), "\"acquired_at_ms\" is");
  }
}

TEST(LeaseRecord, IsDamagedByAnOptionalFieldOfAnotherType) {
  EXPECT_DAMAGED(record_text(R"("epoch": "1")"), "\"epoch\" is");
  EXPECT_DAMAGED(record_text(R"("epoch": -1)"), "\"epoch\" is");
  EXPECT_DAMAGED(record_text(R"("epoch": 9007199254740992)"), "\"epoch\" is out of range");
  EXPECT_DAMAGED(record_text(R"("epoch": 18446744073709551616)"), "\"epoch\" is");
  EXPECT_DAMAGED(record_text(R"("hostname": null)"), "\"hostname\" is not text");
  EXPECT_DAMAGED(record_text(R"("pid_start_s": -1)"), "\"pid_start_s\" is");
  EXPECT_DAMAGED(record_text(R"("channel": 1)"), "\"channel\" is not text");
  EXPECT_DAMAGED(record_text(R"("version": [])"), "\"version\" is not text");
  EXPECT_DAMAGED(record_text(R"("claim_id": false)"), "\"claim_id\" is not text");
  EXPECT_DAMAGED(record_text(R"("tenure": 1)"), "\"tenure\" is not an object");
}

TEST(LeaseRecord, IsDamagedByAKeyThatComesTwice) {
  EXPECT_DAMAGED(record_text(R"("pid": 8)"), "twice");
  EXPECT_DAMAGED(record_text(R"("\u0070id": 8)"), "twice");
  EXPECT_DAMAGED(record_text(R"("later": {"x": 1, "x": 2})"), "twice");
  EXPECT_TRUE(decode_lease_record(record_text(R"("later": [{"x": 1}, {"x": 2}], "x": 3)")));
}

TEST(LeaseRecord, IsDamagedByTextThatIsNotUtf8) {
  for (const std::string bad : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82", "\\ud800", "\\udc00x"}) {
    EXPECT_DAMAGED(replaced(record_text(), "\"k\"", "\"" + bad + "\""), "not JSON");
  }
}

TEST(LeaseRecord, IsDamagedBeyondItsDepth) {
  const auto nested = [](std::size_t depth) {
    return record_text("\"later\": " + std::string(depth, '[') + std::string(depth, ']'));
  };
  EXPECT_TRUE(decode_lease_record(nested(15))) << "with the object itself, sixteen";
  EXPECT_DAMAGED(nested(16), "not JSON");
  EXPECT_DAMAGED(nested(20'000), "not JSON");
}

TEST(LeaseRecord, IsDamagedBeyondItsSize) {
  const std::string text = record_text();
  EXPECT_TRUE(decode_lease_record(text + std::string(kMaxRecordBytes - text.size(), ' ')));
  EXPECT_DAMAGED(text + std::string(kMaxRecordBytes - text.size() + 1, ' '), "longer than 65536 bytes");
}

// ---- our own object -----------------------------------------------------------------------------------------------

TEST(LeaseExtra, IgnoresKeysOfLaterPrograms) {
  const LeaseRecord record = full_record();
  const std::string text = replaced(encode(record), "\"mode\"", "\"later\": {\"x\": [1]}, \"mode\"");
  EXPECT_EQ(decode_lease_record(text).value(), record);
}

TEST(LeaseExtra, OfALaterVersionIsNotReadHalf) {
  EXPECT_DAMAGED(replaced(encode(full_record()), "\"version\": 1,", "\"version\": 2,"), "a newer program wrote it");
  EXPECT_DAMAGED(replaced(encode(full_record()), "\"version\": 1,", "\"version\": 0,"), "\"tenure.version\"");
  EXPECT_DAMAGED(replaced(encode(full_record()), "\"version\": 1,", ""), "\"tenure.version\" is missing");
}

TEST(LeaseExtra, ThatCannotBeReadDamagesTheWholeRecord) {
  const std::string text = encode(full_record());
  for (const std::string name : {"process",
                                 "life",
                                 "renewed_monotonic_ns",
                                 "renewed_boot_ns",
                                 "extended_monotonic_ns",
                                 "extended_boot_ns",
                                 "mode",
                                 "slots",
                                 "reason",
                                 "at_loss",
                                 "user_name",
                                 "command",
                                 "directory",
                                 "start_ticks",
                                 "boot_id",
                                 "machine_id",
                                 "pid_namespace",
                                 "time_namespace",
                                 "user",
                                 "device",
                                 "inode"}) {
    EXPECT_DAMAGED(replaced(text, "\"" + name + "\"", "\"other\""), name + "\" is missing");
  }
  EXPECT_DAMAGED(replaced(text, "\"shared\"", "\"both\""), "\"tenure.mode\"");
  EXPECT_DAMAGED(replaced(text, "\"kill\"", "\"\""), "\"tenure.at_loss\"");
  EXPECT_DAMAGED(replaced(text, "\"ttl_ms\": 90000", "\"ttl_ms\": -1"), "\"tenure.ttl_ms\" is out of range");
  EXPECT_DAMAGED(replaced(text, "\"ttl_ms\": 90000", "\"ttl_ms\": 9007199254740991"), "\"tenure.ttl_ms\" is out of");
  EXPECT_DAMAGED(replaced(text, "\"12345678901234567\"", "12345678901234567"), "renewed_monotonic_ns\" is not text");
  EXPECT_DAMAGED(replaced(text, "\"12345678901234567\"", "\"-1\""), "renewed_monotonic_ns\" is not a decimal");
  EXPECT_DAMAGED(replaced(text, "\"12345678901234567\"", "\"4611686018427387905\""),
                 "renewed_monotonic_ns\" is out of");
  EXPECT_DAMAGED(replaced(text, "\"18446744073709551615\"", "\"18446744073709551616\""), "start_ticks\"");
  EXPECT_DAMAGED(replaced(text, "\"18446744073709551615\"", "\"\""), "start_ticks\"");
  EXPECT_DAMAGED(replaced(text, "\"user\": 1000", "\"user\": 4294967296"), "\"tenure.process.user\" is out of range");
  EXPECT_DAMAGED(replaced(text, "\"process\": {\n      \"pid\": 4242", "\"process\": {\n      \"pid\": 2147483648"),
                 "\"tenure.process.pid\" is out of range");
}

TEST(LeaseExtra, MayLackWhatMayBeNull) {
  LeaseRecord record = full_record();
  std::string text = replaced(encode(record), "\"ttl_ms\": 90000,", "");
  text = replaced(text, "\"owner_process\"", "\"other\"");
  record.extra->terms.ttl.reset();
  record.extra->owner_process.reset();
  EXPECT_EQ(decode_lease_record(text).value(), record);
}

// ---- bounds -------------------------------------------------------------------------------------------------------

TEST(LeaseRecord, NeverExceedsItsBoundWhenWritten) {
  for (const std::string unit : {"a", "\"", "\x01", "€", "\xff"}) {
    std::string big;
    for (int i = 0; i < 5000; ++i) big += unit;
    LeaseRecord record = full_record();
    for (std::string* field : {&record.instance_id, &record.owner_boot_id, &record.block_id, &record.hostname,
                               &record.channel, &record.version, &record.claim_id, &record.extra->user_name,
                               &record.extra->command, &record.extra->directory, &record.extra->terms.reason}) {
      *field = big;
    }
    record.session_id = big;
    for (ProcessIdentity* process : {&record.extra->process, &*record.extra->owner_process}) {
      process->boot_id = process->machine_id = big;
    }
    const std::string text = encode(record);
    EXPECT_LE(text.size(), kMaxWrittenRecordBytes);
    const auto again = decode_lease_record(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, bounded(record));
    EXPECT_LE(again->extra->command.size(), 512U);
    EXPECT_LE(again->extra->terms.reason.size(), 1024U);
    EXPECT_LE(again->owner_boot_id.size(), 256U);
  }
}

TEST(LeaseRecord, NeverCutsAKey) {
  for (const std::string unit : {"k", "\"", "\\", "é"}) {
    LeaseRecord record = full_record();
    record.instance_id.clear();
    while (record.instance_id.size() + unit.size() <= Key::kMaxBytes) record.instance_id += unit;
    ASSERT_TRUE(Key::parse(record.instance_id));
    EXPECT_EQ(decode_lease_record(encode(record)).value(), record);
  }
}

TEST(LeaseRecord, RoundsATtlUpAndKeepsItSane) {
  const auto written = [](Duration ttl) {
    LeaseRecord record = full_record();
    record.extra->terms.ttl = ttl;
    return *decode_lease_record(encode(record)).value().extra->terms.ttl;
  };
  EXPECT_EQ(written(Duration{1}), std::chrono::milliseconds(1));
  EXPECT_EQ(written(std::chrono::microseconds(1500)), std::chrono::milliseconds(2));
  EXPECT_EQ(written(std::chrono::milliseconds(1500)), std::chrono::milliseconds(1500));
  EXPECT_EQ(written(Duration{-5}), Duration{0});
  EXPECT_EQ(written(Duration::max()), std::chrono::hours(24 * 3650));
}

TEST(LeaseRecord, KeepsStampsWhereDifferencesCannotOverflow) {
  LeaseRecord record = full_record();
  record.extra->renewed_monotonic = MonotonicTime{Duration::min()};
  record.extra->extended_boot = BootTime{Duration::max()};
  const LeaseRecord again = decode_lease_record(encode(record)).value();
  EXPECT_EQ(again.extra->renewed_monotonic, MonotonicTime{});
  EXPECT_EQ(again.extra->extended_boot.since_origin.count(), std::int64_t{1} << 62);
}

// ---- for people ---------------------------------------------------------------------------------------------------

TEST(HolderOf, ShowsTheWholeRecordButItsSecret) {
  const LeaseRecord record = full_record();
  const Holder holder = holder_of(record);
  EXPECT_EQ(holder.owner, "owner");
  EXPECT_EQ(holder.part, "part");
  EXPECT_EQ(holder.process, record.extra->process);
  EXPECT_EQ(holder.owner_process, record.extra->owner_process);
  EXPECT_EQ(holder.host, "workbench");
  EXPECT_EQ(holder.user_name, "ada");
  EXPECT_EQ(holder.command, "make deploy");
  EXPECT_EQ(holder.directory, "/srv/app");
  EXPECT_EQ(holder.reason, "reason");
  EXPECT_EQ(holder.channel, "stable");
  EXPECT_EQ(holder.version, "1.2");
  EXPECT_EQ(holder.session, "session");
  EXPECT_EQ(holder.since.milliseconds(), 1'772'368'496'789);
  EXPECT_EQ(holder.ttl, std::chrono::seconds(90));
}

TEST(HolderOf, AForeignRecordNamesAPidAtMost) {
  LeaseRecord record = full_record();
  record.extra.reset();
  const Holder holder = holder_of(record);
  ProcessIdentity expected;
  expected.pid = 4242;
  EXPECT_EQ(holder.process, expected);
  EXPECT_EQ(holder.ttl, std::nullopt);
}

TEST(WallTimeOf, EndsAtItsLimitsInsteadOfOverflowing) {
  EXPECT_EQ(wall_time_of(1500).since_origin, std::chrono::milliseconds(1500));
  EXPECT_GT(wall_time_of(std::numeric_limits<std::int64_t>::max()), wall_time_of(1'772'368'496'789));
  EXPECT_LT(wall_time_of(std::numeric_limits<std::int64_t>::min()), wall_time_of(0));
  // A distance that overflowed would come out negative.
  const WallTime now = wall_time_of(1'772'368'496'789);
  EXPECT_GT(now - wall_time_of(std::numeric_limits<std::int64_t>::min()), Duration{0});
  EXPECT_LT(now - wall_time_of(std::numeric_limits<std::int64_t>::max()), Duration{0});
}

}  // namespace
}  // namespace tenure
