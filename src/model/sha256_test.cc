#include "model/sha256.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

// The examples of FIPS 180-4 and of NIST's byte-oriented test vectors.
TEST(Sha256, IsRightForThePublishedMessages) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("\xd3"), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(Sha256, IsRightForAMillionTimesTheLetterA) {
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Around 55, 56 and 64 bytes the padding takes a block more or less.
TEST(Sha256, DoesNotDependOnHowItsInputIsCut) {
  for (std::size_t size = 0; size <= 130; ++size) {
    const std::string text(size, 'x');
    const std::string whole = sha256_hex(text);
    for (std::size_t cut = 0; cut <= size; ++cut) {
      Sha256 parts;
      parts.update(std::string_view(text).substr(0, cut));
      parts.update(std::string_view(text).substr(cut));
      Sha256 at_once;
      at_once.update(text);
      ASSERT_EQ(parts.finish(), at_once.finish()) << size << " cut at " << cut;
    }
    ASSERT_EQ(whole.size(), 64U);
  }
}

}  // namespace
}  // namespace tenure
