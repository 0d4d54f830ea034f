// Records of a receiver lease as pi-amq writes them, and as it does not: tests/interop/pi-amq, with what pi-amq and we
// make of each in cases.tsv. The stand-in for pi-amq (tests/interop/pi_amq.py) is tried by the same table.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "model/receiver_record.h"

namespace tenure {
namespace {

const std::string kFolder = std::string(TENURE_SOURCE_DIR) + "/tests/interop/pi-amq/";

std::string fixture(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  EXPECT_TRUE(file) << "no fixture " << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Case {
  std::string read_as;   // owner, guard
  std::string pi;        // read, corrupt
  std::string expected;  // read, or words of the complaint
};

std::map<std::string, Case> cases() {
  std::istringstream table(fixture("cases.tsv"));
  std::map<std::string, Case> all;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream cells(line);
    std::string name;
    Case one;
    std::getline(cells, name, '\t');
    std::getline(cells, one.read_as, '\t');
    std::getline(cells, one.pi, '\t');
    std::getline(cells, one.expected, '\t');
    EXPECT_TRUE(all.emplace(name, one).second) << name << " stands there twice";
  }
  return all;
}

// "read", when what was read is also read after being written; otherwise the complaint.
template <class Record>
std::string outcome(const Result<Record>& record, Result<Record> (*decode)(std::string_view)) {
  if (record) return decode(encode(*record)) == *record ? "read" : "not the same after being written";
  EXPECT_EQ(record.error().code, Code::damaged);
  EXPECT_FALSE(fault_in_text(record.error().message));
  return record.error().message;
}

std::string outcome(const Case& one, const std::string& bytes) {
  if (one.read_as == "owner") return outcome(decode_receiver_owner(bytes), &decode_receiver_owner);
  return outcome(decode_receiver_guard(bytes), &decode_receiver_guard);
}

TEST(ReceiverFixtures, EachIsReadOrRefusedAsTheTableSays) {
  const auto all = cases();
  EXPECT_GE(all.size(), 160U);
  for (const auto& [name, one] : all) {
    const std::string got = outcome(one, fixture(name));
    if (one.expected == "read") {
      EXPECT_EQ(got, "read") << name;
      EXPECT_EQ(one.pi, "read") << name << ": what pi-amq refuses, we refuse";
    } else {
      EXPECT_NE(got.find(one.expected), std::string::npos) << name << ": " << got;
    }
  }
}

TEST(ReceiverFixtures, EveryFileIsInTheTable) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") files.insert(entry.path().filename());
  }
  std::set<std::string> named;
  for (const auto& [name, one] : cases()) named.insert(name);
  EXPECT_EQ(files, named);
}

// Two-space JSON is how pi-amq writes; the same fields then make the same bytes.
TEST(ReceiverFixtures, OursAreWrittenAsPiAmqWritesThem) {
  for (const std::string name : {"owner.linux.json", "owner.macos.json", "owner.no-boot.json", "owner.pid.most.json",
                                 "owner.other-alphabet.json"}) {
    EXPECT_EQ(encode(decode_receiver_owner(fixture(name)).value()), fixture(name)) << name;
  }
  for (const std::string name : {"guard.linux.json", "guard.macos.json", "guard.no-boot.json"}) {
    EXPECT_EQ(encode(decode_receiver_guard(fixture(name)).value()), fixture(name)) << name;
  }
}

TEST(ReceiverFixtures, EveryFieldArrivesInItsPlace) {
  const ReceiverOwner owner = decode_receiver_owner(fixture("owner.macos.json")).value();
  EXPECT_EQ(owner.process.generation, "b2a7d9c4-0c58-4e1d-9a63-81f5e7206d3b");
  EXPECT_EQ(owner.session_id, "01985c3e-7a42-7c1b-9f3d-2b6e8a40d715");
  EXPECT_EQ(owner.session_file, "/Users/ada/.pi/agent/sessions/project/2026-11-30T10-26-41-007Z_01985c3e.jsonl");
  EXPECT_EQ(owner.process.pid, 61234U);
  EXPECT_EQ(owner.process.start_identity, "Mon Nov 30 11:26:41 2026");
  EXPECT_EQ(owner.process.boot_identity, "{ sec = 1795941101, usec = 524311 } Sun Nov 29 09:31:41 2026");
  EXPECT_EQ(owner.process.executable, "/opt/homebrew/Cellar/node/22.11.0/bin/node");
  EXPECT_EQ(owner.process.hostname, "Adas-MacBook-Pro.local");
  EXPECT_EQ(owner.root_id, "root-1");
  EXPECT_EQ(owner.process.created_at, "2026-11-30T10:26:50.123Z");
  EXPECT_EQ(decode_receiver_guard(fixture("guard.macos.json")).value(), owner.process);
  EXPECT_EQ(decode_receiver_owner(fixture("owner.executable.dots.json")).value(),
            decode_receiver_owner(fixture("owner.linux.json")).value());
  EXPECT_EQ(decode_receiver_owner(fixture("owner.piSessionFile.dots.json")).value().session_file, "/home/ada/a.jsonl");
  EXPECT_EQ(decode_receiver_owner(fixture("owner.escaped.json")).value().root_id, "a/b\\\"\n");
}

}  // namespace
}  // namespace tenure
