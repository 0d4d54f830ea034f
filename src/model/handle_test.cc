#include "tenure/handle.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "model/checksum.h"

namespace tenure {
namespace {

constexpr std::string_view kClaim = "00112233445566778899aabbccddeeff";

std::string with_checksum(const std::string& body) {
  return body + ":" + crc32_hex(body);
}

Handle sample() {
  return Handle{Key::parse("deploy/production").value(), ClaimId::parse(kClaim).value(), Epoch(17), "files:/srv/a b"};
}

void expect_same(const Handle& a, const Handle& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.claim, b.claim);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.space, b.space);
}

TEST(ClaimId, IsReadWithAndWithoutDashesInEitherCase) {
  const auto plain = ClaimId::parse("0f8fad5bd9cb469fa16570867728950e");
  ASSERT_TRUE(plain);
  EXPECT_EQ(ClaimId::parse("0f8fad5b-d9cb-469f-a165-70867728950e"), plain);
  EXPECT_EQ(ClaimId::parse("0F8FAD5B-D9CB-469F-A165-70867728950E"), plain);
  EXPECT_EQ(plain->text(), "0f8fad5bd9cb469fa16570867728950e");
  EXPECT_FALSE(plain->none());
  EXPECT_TRUE(ClaimId{}.none());
}

TEST(ClaimId, IsNothingElse) {
  for (const std::string text : {"", "0f8fad5bd9cb469fa16570867728950", "0f8fad5bd9cb469fa16570867728950e0",
                                 "0f8fad5bd9cb469fa16570867728950g", "0f8fad5b-d9cb-469f-a165-70867728950",
                                 "0f8fad5bd-9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-7086-728950e",
                                 "{0f8fad5bd9cb469fa1657086772895}", "------------------------------------"}) {
    EXPECT_EQ(ClaimId::parse(text), std::nullopt) << text;
  }
}

TEST(Handle, ComesBackAsItWas) {
  const auto again = Handle::parse(sample().text());
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, sample());
}

TEST(Handle, IsOneWordOfTheDocumentedForm) {
  EXPECT_EQ(sample().text(),
            with_checksum("tenure1:" + std::string(kClaim) + ":17:deploy%2Fproduction:files%3A%2Fsrv%2Fa%20b"));
}

TEST(Handle, MayHaveALineEnd) {
  const auto read = Handle::parse(sample().text() + "\n");
  ASSERT_TRUE(read);
  expect_same(*read, sample());
}

TEST(Handle, OfTheLongestKeyAndUrlFits) {
  Handle longest = sample();
  longest.key = Key::parse(std::string(Key::kMaxBytes, '/')).value();
  longest.space = "files:" + std::string(limits::kUrlBytes - 6, '/');
  ASSERT_LE(longest.text().size(), limits::kHandleBytes);
  const auto again = Handle::parse(longest.text());
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, longest);
}

// Every byte of it is covered: by its own rule or by the checksum.
TEST(Handle, IsRefusedWhenAnyByteWasChangedOrCut) {
  const std::string text = sample().text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(Handle::parse(changed)) << i;
    EXPECT_FALSE(Handle::parse(text.substr(0, i))) << i;
  }
}

struct Malformed {
  std::string text;
  std::string says;
};

TEST(Handle, IsRefusedInWordsThatDoNotRepeatIt) {
  const std::string claim(kClaim);
  const std::vector<Malformed> cases = {
      {"", "empty"},
      {"\n", "empty"},
      {std::string(limits::kHandleBytes + 1, 'a'), "8192"},
      {"tenure2:" + claim + ":1:a:memory%3A:00000000", "begin"},
      {"tenure1:" + claim + ":1:a", "six parts"},
      {with_checksum("tenure1:" + claim + ":1:a:memory%3A:more"), "six parts"},
      {"tenure1:" + claim + ":1:a:memory%3A:00000000", "checksum"},
      {with_checksum("tenure1:0011:1:a:memory%3A"), "claim id"},
      {with_checksum("tenure1:0f8fad5b-d9cb-469f-a165-70867728950e:1:a:memory%3A"), "claim id"},
      {with_checksum("tenure1:" + claim + ":9007199254740992:a:memory%3A"), "epoch"},
      {with_checksum("tenure1:" + claim + ":-1:a:memory%3A"), "epoch"},
      {with_checksum("tenure1:" + claim + "::a:memory%3A"), "epoch"},
      {with_checksum("tenure1:" + claim + ":1:%zz:memory%3A"), "key"},
      {with_checksum("tenure1:" + claim + ":1::memory%3A"), "key"},
      {with_checksum("tenure1:" + claim + ":1:%0a:memory%3A"), "key"},
      {with_checksum("tenure1:" + claim + ":1:a:"), "space"},
      {with_checksum("tenure1:" + claim + ":1:a:%0a"), "space"},
      {with_checksum("tenure1:" + claim + ":1:a:" + std::string(limits::kUrlBytes + 1, 'u')), "space"},
  };
  for (const Malformed& malformed : cases) {
    const auto handle = Handle::parse(malformed.text);
    ASSERT_FALSE(handle) << malformed.text;
    EXPECT_EQ(handle.error().code, Code::bad_handle);
    EXPECT_NE(handle.error().message.find(malformed.says), std::string::npos) << handle.error().message;
    EXPECT_EQ(handle.error().message.find(claim), std::string::npos);
    EXPECT_FALSE(handle.error().remedy.empty());
  }
}

}  // namespace
}  // namespace tenure
