// Clock, randomness, errors and the table of file systems.
#include <gtest/gtest.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "os/linux/file_system.h"
#include "os/linux/real_clock.h"
#include "os/linux/real_random.h"
#include "os/linux/scratch_test.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

Duration kernel(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

TEST(RealClock, EachReadsItsOwnClock) {
  const RealClock clock;
  const Duration before[] = {kernel(CLOCK_MONOTONIC), kernel(CLOCK_BOOTTIME), kernel(CLOCK_REALTIME)};
  const Duration read[] = {clock.monotonic().since_origin, clock.boottime().since_origin, clock.wall().since_origin};
  const Duration after[] = {kernel(CLOCK_MONOTONIC), kernel(CLOCK_BOOTTIME), kernel(CLOCK_REALTIME)};
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(before[i], read[i]) << i;
    EXPECT_LE(read[i], after[i]) << i;
  }
}

TEST(RealRandom, FillsMoreThanOneCallOfTheKernelGives) {
  // getrandom(2) gives at most 32 MiB - 1 a call: the tail is there only if a short read is continued.
  std::vector<std::uint8_t> bytes(std::size_t{33} * 1024 * 1024);
  ASSERT_TRUE(RealRandom().fill(bytes));
  const std::vector<std::uint8_t> tail(bytes.end() - 64, bytes.end());
  EXPECT_FALSE(std::all_of(tail.begin(), tail.end(), [](std::uint8_t b) { return b == 0; }));
}

TEST(RealRandom, TwoDrawsDiffer) {
  std::vector<std::uint8_t> a(16);
  std::vector<std::uint8_t> b(16);
  ASSERT_TRUE(RealRandom().fill(a));
  ASSERT_TRUE(RealRandom().fill(b));
  EXPECT_NE(a, b);
  EXPECT_TRUE(RealRandom().fill({}));
}

TEST(RealRandom, FailsClosed) {
  Child child([](Child&) {
    if (!forbid(SYS_getrandom, 0, EPERM)) return 2;
    std::vector<std::uint8_t> bytes(16, 0x5a);
    const auto filled = RealRandom().fill(bytes);
    const bool wiped = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
    return !filled && filled.error().code == Code::no_randomness && wiped ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(SystemError, CodesAndWords) {
  EXPECT_EQ(code_of(ENOSPC), Code::no_space);
  EXPECT_EQ(code_of(EDQUOT), Code::no_space);
  EXPECT_EQ(code_of(EROFS), Code::read_only);
  EXPECT_EQ(code_of(EMFILE), Code::no_descriptors);
  EXPECT_EQ(code_of(ENFILE), Code::no_descriptors);
  EXPECT_EQ(code_of(EACCES), Code::not_permitted);
  EXPECT_EQ(code_of(EPERM), Code::not_permitted);
  EXPECT_EQ(code_of(EIO), Code::input_output);
  EXPECT_EQ(system_words(ENOSPC), "No space left on device (ENOSPC)");
  EXPECT_EQ(system_words(99999), "error 99999");
  const Result<void> failed = system_failure(EIO, "write", "/x/\x1b");
  EXPECT_EQ(failed.error().message, "cannot write /x/\\x1b: Input/output error (EIO)");
}

TEST(FileSystemTable, M12_RemoteOnesAreCalledRemote) {
  for (const std::uint32_t magic :
       {0x6969U, 0xff534d42U, 0xfe534d42U, 0x65735546U, 0x01021997U, 0x5346414fU, 0x00c36400U}) {
    EXPECT_TRUE(file_system_of(magic).is_remote) << magic;
    EXPECT_TRUE(file_system_of(magic).is_suitable) << magic;
  }
  EXPECT_EQ(file_system_of(0xef53), (FileSystem{"ext4", true, false, false}));
  EXPECT_EQ(file_system_of(0x01021994), (FileSystem{"tmpfs", true, false, true}));
  EXPECT_FALSE(file_system_of(0x9fa0).is_suitable);
  EXPECT_EQ(file_system_of(0x12345678).name, "0x12345678");
}

}  // namespace
}  // namespace tenure::os
