#include "model/fence_record.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "model/checksum.h"

namespace tenure {
namespace {

std::string summed(const std::string& body) {
  return body + " " + crc32_hex(body) + "\n";
}

std::string complaint_about(std::string_view bytes) {
  const auto record = decode_fence_record(bytes);
  if (record) return "it was accepted";
  EXPECT_EQ(record.error().code, Code::damaged);
  EXPECT_FALSE(fault_in_text(record.error().message));
  return record.error().message;
}

TEST(FenceRecord, ComesBackAsItWas) {
  const FenceRecord longest{Epoch(Epoch::kLimit - 1), std::string(Key::kMaxBytes, '%'),
                            std::string(limits::kUrlBytes, '%')};
  for (const FenceRecord& record : {FenceRecord{Epoch(1), "k", "local:"}, longest,
                                    FenceRecord{Epoch(17), "two words 1 2", "files:/a b/\xc3\xa9"}}) {
    EXPECT_EQ(decode_fence_record(encode(record)).value(), record);
    EXPECT_LE(encode(record).size(), kMaxFenceBytes);
  }
}

TEST(FenceRecord, EveryByteCounts) {
  const std::string whole = encode({Epoch(1'772'368'497'048'576), "deploy to", "local:/x/y"});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]) ^ (1U << bit));
      EXPECT_FALSE(decode_fence_record(bytes)) << bytes;
    }
    EXPECT_FALSE(decode_fence_record(whole.substr(0, i))) << "cut after " << i;
    EXPECT_FALSE(decode_fence_record(whole.substr(0, i) + std::string(whole.size() - i, '\0')));
  }
  EXPECT_FALSE(decode_fence_record(whole + "\n"));
  EXPECT_FALSE(decode_fence_record(whole + whole));
}

TEST(FenceRecord, OnlyOneSpellingIsRead) {
  EXPECT_EQ(decode_fence_record(summed("tenure-fence 1 5 k local%3A")).value().epoch, Epoch(5));
  for (const char* body :
       {"tenure-fence 1 05 k local%3A", "tenure-fence 1 +5 k local%3A", "tenure-fence 1 5  k local%3A",
        "tenure-fence 1 5 k local%3a", "tenure-fence 1 5 k local:", "tenure-fence 1 5 k", "tenure-fence 1 5 k ",
        "tenure-fence 1 5 k local%3A more", "tenure-fence 1 5 %20k local%3A", "tenure-fence 1 5 %0A local%3A",
        "tenure-fence 1 5  local%3A", "tenure-fence 1 -5 k local%3A", "tenure-fence 1 5 k%4 local%3A"}) {
    EXPECT_NE(complaint_about(summed(body)).find("not an epoch, a key and a space"), std::string::npos) << body;
  }
  EXPECT_NE(complaint_about("").find("empty"), std::string::npos);
  EXPECT_NE(complaint_about(std::string(kMaxFenceBytes + 1, 'x')).find("longer"), std::string::npos);
  EXPECT_NE(complaint_about(summed("tenure-fence 1 0 k local%3A")).find("is 0"), std::string::npos);
  EXPECT_NE(complaint_about(summed("tenure-fence 1 9007199254740992 k local%3A")).find("2^53"), std::string::npos);
  EXPECT_NE(complaint_about(summed("tenure-fence 0 5 k local%3A")).find("begin"), std::string::npos);
}

TEST(FenceRecord, ANewerOneIsNotCalledDamaged) {
  for (const char* bytes : {"tenure-fence 2 whatever\n", "tenure-fence 10 5 k local%3A 00000000\n"}) {
    EXPECT_NE(complaint_about(bytes).find("newer"), std::string::npos);
    EXPECT_FALSE(decode_fence_record(bytes).error().remedy.empty());
  }
}

TEST(FenceNames, NoTwoFilesShareOne) {
  const std::string longest(limits::kFileNameBytes, 'x');
  const std::vector<std::string> files = {"a",
                                          "a.fence",
                                          ".a.fence",
                                          "a.fence.lock",
                                          "b",
                                          "two words",
                                          "two_words",
                                          "\xff\xfe",
                                          ".",
                                          "x~",
                                          longest,
                                          std::string(200, 'x'),
                                          std::string(201, 'x'),
                                          "a.fence.tmp",
                                          "draft-0",
                                          "a.fence.draft-0"};
  std::set<std::string> seen;
  std::size_t made = 0;
  for (const std::string& file : files) {
    const FenceNames names = fence_names(file);
    std::vector<std::string> all = {names.record, names.lock, names.temporary, names.lock + ".new"};
    for (int i = 0; i < FenceNames::kDrafts; ++i) all.push_back(names.draft(i));
    for (const std::string& name : all) {
      EXPECT_LE(name.size(), limits::kFileNameBytes);
      EXPECT_TRUE(is_fence_name(name)) << name;
      seen.insert(name);
      ++made;
    }
  }
  EXPECT_EQ(seen.size(), made);
}

TEST(FenceNames, OtherNamesAreNone) {
  for (const char* name : {"", ".", "a", ".fence", "a.fence", ".a.fences", ".a b.fence", ".~12.fence",
                           ".a.fence.draft-", ".a.fence.draft-8", ".a.fence.draft-10", ".profile"}) {
    EXPECT_FALSE(is_fence_name(name)) << name;
  }
}

}  // namespace
}  // namespace tenure
