// A table that must grow on a disk that is full, on real file systems: the claim that needs the room is refused, and
// nothing else changes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "deaths/actors.h"
#include "engine/local/check.h"
#include "engine/local/local.h"
#include "engine/local/table.h"
#include "os/linux/local_folder.h"
#include "os/linux/real_clock.h"
#include "os/linux/real_processes.h"
#include "os/linux/real_random.h"
#include "os/linux/real_words.h"

namespace tenure::local_test {
namespace {

constexpr std::uint32_t kFirstCells = 64;
constexpr int kMoreKeys = 100;  // than the first cells are enough for

class FullDisk : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    // From here on what we mount is seen by this thread alone, and by those that it starts.
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || !mount_one()) {
      GTEST_SKIP() << "no " << GetParam() << " can be mounted here";
    }
    mounted_ = true;
  }
  void TearDown() override {
    engine_.reset();
    if (mounted_) umount2(disk_.path().c_str(), MNT_DETACH);
  }

  bool mount_one() {
    if (std::string(GetParam()) == "tmpfs") {
      return mount("none", disk_.path().c_str(), "tmpfs", 0, "size=4m,mode=700") == 0;
    }
    const std::string image = beside_.path() + "/image";
    std::ofstream(image).close();
    std::filesystem::resize_file(image, 16u << 20);
    const std::string command =
        "{ mkfs.ext4 -q -m 0 " + image + " && mount -o loop " + image + " " + disk_.path() + "; } >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  }

  void join_space() {
    auto folder = os::RealLocalFolder::open(disk_.path() + "/space", true, {}, true);
    ASSERT_TRUE(folder) << folder.error().message;
    env::Environment environment{std::make_shared<const os::RealClock>(), std::make_shared<os::RealRandom>(),
                                 std::make_shared<const os::RealProcesses>()};
    LocalOptions options;
    options.limits = {.members = 16, .buckets = 64, .cells = 8'192, .first_cells = kFirstCells, .events = 64};
    auto engine = open_local(std::move(*folder), std::make_shared<os::RealWords>(), environment, options);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = *engine;
  }

  // To the last byte.
  void fill_disk() const {
    const int file = open(ballast().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    const std::vector<char> block(std::size_t{64} << 10, 'x');
    for (std::size_t size = block.size(); size > 0; size /= 2) {
      while (write(file, block.data(), size) > 0) {
      }
    }
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(fsync(file), 0);
    close(file);
  }
  void make_room() const { ASSERT_TRUE(std::filesystem::remove(ballast())); }
  std::string ballast() const { return disk_.path() + "/ballast"; }

  Result<Grant> claim(int number) { return engine_->try_claim(request("key/" + std::to_string(number))); }
  static ClaimRef ref(const Grant& grant) { return {grant.key, grant.claim, grant.epoch}; }
  void expect_whole(const std::vector<Grant>& held) {
    for (const Grant& grant : held) EXPECT_TRUE(engine_->verify(ref(grant))) << grant.key.text();
    for (const std::string& fault : local::faults_in(local::core_of(*engine_))) ADD_FAILURE() << fault;
  }
  std::uint32_t cells() { return local::core_of(*engine_).table.last_cell(); }

  Folder beside_;
  Folder disk_;
  bool mounted_ = false;
  std::shared_ptr<Engine> engine_;
};

TEST_P(FullDisk, RefusesTheClaimThatNeedsTheRoomAndNothingElse) {
  ASSERT_NO_FATAL_FAILURE(join_space());
  ASSERT_NO_FATAL_FAILURE(fill_disk());
  std::vector<Grant> held;
  auto refused = claim(0);
  for (int next = 1; refused && next <= static_cast<int>(kFirstCells); ++next) {
    held.push_back(std::move(*refused));
    refused = claim(next);
  }
  ASSERT_FALSE(refused) << "the table grew";
  EXPECT_EQ(refused.error().code, Code::no_space) << refused.error().message;
  EXPECT_NE(refused.error().message.find("cannot grow beyond 64 cells"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().remedy.find("make room"), std::string::npos) << refused.error().remedy;
  ASSERT_FALSE(held.empty());
  expect_whole(held);
  EXPECT_EQ(cells(), kFirstCells);

  // What is given back is room enough for another; and it is refused as before once that is taken.
  const int wanted = static_cast<int>(held.size());
  EXPECT_TRUE(engine_->release(ref(held.back())));
  held.pop_back();
  auto instead = claim(wanted);
  ASSERT_TRUE(instead) << instead.error().message;
  held.push_back(std::move(*instead));
  auto again = claim(wanted + 1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::no_space) << again.error().message;

  ASSERT_NO_FATAL_FAILURE(make_room());
  for (int next = wanted + 1; next <= wanted + kMoreKeys; ++next) {
    auto granted = claim(next);
    ASSERT_TRUE(granted) << granted.error().message;
    held.push_back(std::move(*granted));
  }
  EXPECT_GT(cells(), kFirstCells);
  expect_whole(held);
  for (const Grant& grant : held) EXPECT_TRUE(engine_->release(ref(grant)));
  expect_whole({});
}

INSTANTIATE_TEST_SUITE_P(on, FullDisk, testing::Values("tmpfs", "ext4"));

}  // namespace
}  // namespace tenure::local_test
