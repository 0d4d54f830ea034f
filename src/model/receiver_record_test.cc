#include "model/receiver_record.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "base/text.h"

namespace tenure {
namespace {

ReceiverOwner sample_owner() {
  return {.process = {.generation = "0f8fad5b-d9cb-469f-a165-70867728950e",
                      .pid = 4242,
                      .start_identity = "1234567",
                      .boot_identity = "6f1ed002-ab55-4f1f-9d7e-0e6f4b6d3b0a",
                      .executable = "/usr/bin/node",
                      .hostname = "workbench",
                      .created_at = "2026-11-30T10:26:50.123Z"},
          .session_id = "s-1",
          .session_file = "/home/ada/session.jsonl",
          .root_id = "root"};
}

std::string changed(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string why_owner(std::string_view bytes) {
  const auto owner = decode_receiver_owner(bytes);
  if (owner) return "it was accepted";
  EXPECT_EQ(owner.error().code, Code::damaged);
  EXPECT_FALSE(fault_in_text(owner.error().message)) << "the message is one line of text";
  return owner.error().message;
}

// The owner record with a change, and a word of the complaint.
void expect_damaged(std::string_view from, std::string_view to, std::string_view word) {
  const std::string why = why_owner(changed(encode(sample_owner()), from, to));
  EXPECT_NE(why.find(word), std::string::npos) << why;
}

TEST(ReceiverRecord, ComesBackAsItWas) {
  ReceiverOwner owner = sample_owner();
  EXPECT_EQ(decode_receiver_owner(encode(owner)).value(), owner);
  EXPECT_EQ(decode_receiver_guard(encode(owner.process)).value(), owner.process);
  owner.process.boot_identity.reset();
  owner.process.pid = kMaxReceiverPid;
  owner.process.generation = "\xf0\x9f\x98\x80 \"\\\n";
  EXPECT_EQ(decode_receiver_owner(encode(owner)).value(), owner);
  EXPECT_EQ(decode_receiver_guard(encode(owner.process)).value(), owner.process);
}

TEST(ReceiverRecord, AnOwnerIsNoGuardAndAGuardNoOwner) {
  EXPECT_FALSE(decode_receiver_guard(encode(sample_owner())));
  EXPECT_FALSE(decode_receiver_owner(encode(sample_owner().process)));
}

TEST(ReceiverRecord, TheLongestFieldsFitTheirBound) {
  ReceiverOwner owner = sample_owner();
  owner.process.executable = "/" + std::string(limits::kPathBytes - 1, '\1');
  owner.session_file = owner.process.executable;
  owner.process.hostname = std::string(limits::kHostBytes, '\1');
  owner.session_id = owner.root_id = owner.process.generation = std::string(limits::kLabelBytes, '\1');
  EXPECT_EQ(decode_receiver_owner(encode(owner)).value(), owner);
}

// A path or a host name may be any bytes: pi-amq compares what Node makes of them.
TEST(ReceiverRecord, BytesThatAreNoTextAreWrittenAsNodeReadsThem) {
  ReceiverOwner owner = sample_owner();
  owner.process.executable = "/opt/\xe2\x82/node";
  owner.process.hostname = "\xff";
  const ReceiverOwner read = decode_receiver_owner(encode(owner)).value();
  EXPECT_EQ(read.process.executable, "/opt/\xef\xbf\xbd/node");
  EXPECT_EQ(read.process.hostname, "\xef\xbf\xbd");
}

TEST(ReceiverRecord, PathsAreNormalisedAndDatesStayAsTheyAre) {
  std::string text = changed(encode(sample_owner()), "/usr/bin/node", "/usr/./lib/..//bin/node");
  text = changed(text, "2026-11-30T10:26:50.123Z", "2026-11");
  const ReceiverOwner read = decode_receiver_owner(text).value();
  EXPECT_EQ(read.process.executable, "/usr/bin/node");
  EXPECT_EQ(read.process.created_at, "2026-11");
}

TEST(ReceiverRecord, TheComplaintNamesTheField) {
  expect_damaged("\"schema\": 1", "\"schema\": 2", "\"schema\" is 2, and only 1 is known");
  expect_damaged("4242", "0", "\"pid\" is 0");
  expect_damaged("4242", "9007199254740992", "\"pid\" is out of range");
  expect_damaged("\"root\"", "\"\"", "\"rootId\" is empty");
  expect_damaged("\"root\"", "7", "\"rootId\" is not text");
  expect_damaged("\"rootId\"", "\"rootID\"", "\"rootID\" does not belong there");
  expect_damaged("\"/home", "\"home", "\"piSessionFile\" is not an absolute path");
  expect_damaged("\"6f1ed002-ab55-4f1f-9d7e-0e6f4b6d3b0a\"", "\"\"", "\"bootIdentity\" is empty");
  expect_damaged("2026-11-30T", "2026-11-31T", "\"createdAt\" is not a date");
}

// A key may be as long and as strange as somebody likes.
TEST(ReceiverRecord, AStrangeKeyIsToldOfWithoutHarm) {
  expect_damaged("{", "{\"\\u001b[2J\\u202e" + std::string(5000, 'k') + "\": 1,", "\\x1b[2J\\u{202e}kk");
  EXPECT_LT(why_owner(changed(encode(sample_owner()), "{", "{\"" + std::string(5000, 'k') + "\": 1,")).size(), 200U);
}

// Of another schema other fields are to be expected: that it is another one matters more.
TEST(ReceiverRecord, AnotherSchemaIsToldOfFirst) {
  const std::string why = why_owner(R"({"schema": 2, "new": 1})");
  EXPECT_NE(why.find("\"schema\" is 2"), std::string::npos) << why;
}

}  // namespace
}  // namespace tenure
