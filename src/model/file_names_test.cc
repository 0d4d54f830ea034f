#include "model/file_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "model/sha256.h"

namespace tenure {
namespace {

Key key(const std::string& text) {
  return Key::parse(text).value();
}

TEST(FileNames, OfAPlainKeyAreTheKeyAndAnEnding) {
  const FileNames names = file_names(key("Agent_7.f-3a"));
  EXPECT_EQ(names.stem, "Agent_7.f-3a");
  EXPECT_EQ(names.record, "Agent_7.f-3a.lease.json");
  EXPECT_EQ(names.lock, "Agent_7.f-3a.lock");
  EXPECT_EQ(names.epoch, "Agent_7.f-3a.epoch");
  EXPECT_EQ(names.life, "Agent_7.f-3a.life");
  EXPECT_EQ(names.temporary, "Agent_7.f-3a.tmp");
  EXPECT_EQ(names.seen, "Agent_7.f-3a.seen");
  EXPECT_EQ(names.revoked, "Agent_7.f-3a.revoked.json");
  EXPECT_EQ(names.evidence(3), "Agent_7.f-3a.evidence-3");
}

TEST(FileNames, OfAnyOtherKeyAreADigest) {
  for (const std::string text : {"a/b", "../../x", "/etc/passwd", "a b", "Schlüssel", "~", "a:b", "a~b"}) {
    EXPECT_EQ(file_names(key(text)).stem, "~" + sha256_hex(text)) << text;
  }
  // A key that looks like a digest's stem is no plain one: it cannot take another key's files.
  const std::string forged = file_names(key("a/b")).stem;
  EXPECT_NE(file_names(key(forged)).stem, forged);
}

TEST(FileNames, ArePlainUpToTwoHundredBytes) {
  EXPECT_EQ(file_names(key(std::string(200, 'k'))).stem, std::string(200, 'k'));
  EXPECT_EQ(file_names(key(std::string(201, 'k'))).stem.front(), '~');
  EXPECT_LE(file_names(key(std::string(200, 'k'))).evidence(2'147'483'647).size(), 255U);
}

// Keys whose names are chosen to end like files of other keys: no file may belong to two of them.
TEST(FileNames, OfTwoKeysNeverMeet) {
  std::vector<std::string> keys = {"x", ".", "..", "x.revoked", "x.lease", "evidence-1"};
  for (const std::string ending :
       {".lease.json", ".lock", ".epoch", ".life", ".tmp", ".seen", ".revoked.json", ".evidence-1", ".json"}) {
    for (const std::string base : {"x", "", "x.evidence-1", "x.lock"}) {
      const std::string text = base + ending;
      if (std::ranges::find(keys, text) == keys.end()) keys.push_back(text);
    }
  }
  std::set<std::string> all;
  std::size_t made = 0;
  for (const std::string& text : keys) {
    const FileNames names = file_names(key(text));
    for (const std::string& name : {names.record, names.lock, names.epoch, names.life, names.temporary, names.seen,
                                    names.revoked, names.evidence(0), names.evidence(1)}) {
      all.insert(name);
      ++made;
      EXPECT_EQ(stem_of(name), names.stem) << name;
    }
  }
  EXPECT_EQ(all.size(), made);
}

TEST(FileNames, OfOthersHaveNoStem) {
  const std::string digits(64, 'a');
  for (const std::string& name :
       {std::string(".registry-tmp-aB3xYz.json"), std::string("README"), std::string(".lock"),
        std::string(".lease.json"), std::string("a b.lock"), std::string("a/b.lock"), "~" + digits.substr(1) + ".lock",
        "~" + digits + "a.lock", "~" + std::string(64, 'A') + ".lock", std::string("~.lock"),
        std::string(201, 'k') + ".lock", std::string("x.evidence-"), std::string("x.evidence-01"),
        std::string("x.evidence--1"), std::string("x.evidence-+1"), std::string("x.evidence-99999999999"),
        std::string("x.evidence-1a"), std::string()}) {
    EXPECT_EQ(stem_of(name), std::nullopt) << name;
  }
  EXPECT_EQ(stem_of("~" + digits + ".lock"), "~" + digits);
}

TEST(FileNames, TellARecordFromTheRest) {
  EXPECT_EQ(stem_of_record("x.lease.json"), "x");
  EXPECT_EQ(stem_of_record("x.lease.json.lease.json"), "x.lease.json");
  for (const std::string name : {"x.lock", "x.revoked.json", ".lease.json", "x.lease.json~", "~abc.lease.json"}) {
    EXPECT_EQ(stem_of_record(name), std::nullopt) << name;
  }
}

TEST(FileNames, GiveBackAPlainKeyOnly) {
  EXPECT_EQ(key_of_stem("deploy"), key("deploy"));
  EXPECT_EQ(key_of_stem(file_names(key("a/b")).stem), std::nullopt);
  EXPECT_EQ(key_of_stem(""), std::nullopt);
  EXPECT_EQ(key_of_stem("a/b"), std::nullopt);
}

}  // namespace
}  // namespace tenure
