#include "model/checksum.h"

#include <gtest/gtest.h>

namespace tenure {
namespace {

TEST(Crc32, HasTheCheckValueOfItsCatalogueEntry) {
  EXPECT_EQ(crc32_hex("123456789"), "cbf43926");
  EXPECT_EQ(crc32_hex(""), "00000000");
}

}  // namespace
}  // namespace tenure
