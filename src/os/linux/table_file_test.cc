// The table: made whole, mapped by several processes, grown by them, and refused when it is not what it should be.
#include "os/linux/table_file.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <vector>

#include "os/linux/local_test.h"

namespace tenure::os {
namespace {

std::size_t blocks_of(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * 512 : 0;
}

TEST(Table, ThereIsNoneAtFirst) {
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  const auto none = folder->map_table(1, kMappedBytes);
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
}

TEST(Table, IsMadeWholeWithItsBlocks) {
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  ASSERT_TRUE(folder->enter_alone().value());
  const auto table = folder->make_table(kTableBytes, kMappedBytes, [&](std::byte* bytes) {
    EXPECT_FALSE(scratch.has("table")) << "nobody sees it before it is whole";
    for (std::size_t i = 0; i < kTableBytes; ++i) ASSERT_EQ(bytes[i], std::byte{0});
    bytes[kTableBytes - 1] = std::byte{42};
  });
  ASSERT_TRUE(table);
  EXPECT_EQ((*table)->size(), kMappedBytes);
  EXPECT_EQ(std::filesystem::file_size(scratch.at("table")), kTableBytes);
  EXPECT_GE(blocks_of(scratch.at("table")), kTableBytes);
  EXPECT_EQ(scratch.get("table").back(), 42);
  EXPECT_TRUE(folder->in_place(**table).value());
  EXPECT_EQ(descriptors_of(gettid(), scratch.at("table")).there, 0);
}

TEST(Table, IsSharedByProcessesAndGrownByAny) {
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  const auto table = make_local_table(*folder);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(std::make_unique<Child>([&](Child&) {
      const auto own = enter_local(scratch.path());
      const auto mapped = map_local_table(*own);
      if (mapped->identity() != table->identity()) return 1;
      for (std::size_t segment = 1; segment <= 32; ++segment) {
        if (!mapped->allocate(segment * kTableBytes)) return 2;
        // Zero, or what another has put there already: nobody's growth takes anything away.
        word_of(*mapped, segment * kTableBytes / sizeof(env::Word) - 1).fetch_add(1);
      }
      return 0;
    }));
  }
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  for (std::size_t segment = 1; segment <= 32; ++segment) {
    EXPECT_EQ(word_of(*table, segment * kTableBytes / sizeof(env::Word) - 1).load(), 3U) << segment;
  }
  EXPECT_EQ(std::filesystem::file_size(scratch.at("table")), 32 * kTableBytes);
  EXPECT_TRUE(table->allocate(kTableBytes)) << "it never shrinks";
  EXPECT_EQ(std::filesystem::file_size(scratch.at("table")), 32 * kTableBytes);
  EXPECT_EQ(table->allocate(kMappedBytes + 1).error().code, Code::internal);
}

TEST(Table, IsNotMappedInAForkedChild) {
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  const auto table = make_local_table(*folder);
  Child child([&](Child&) {
    // The kernel looks at the page without touching it: ENOMEM says that nothing is mapped there.
    return madvise(table->data(), 4096, MADV_NORMAL) != 0 && errno == ENOMEM ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Table, ReplacedOrRemovedIsNoticed) {
  const Scratch scratch;
  mkdir(scratch.at("space").c_str(), 0700);
  const auto folder = enter_local(scratch.at("space"));
  const auto first = make_local_table(*folder);
  const auto second = make_local_table(*folder);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(folder->in_place(*first).value());
  EXPECT_TRUE(folder->in_place(*second).value());
  EXPECT_EQ(first->allocate(2 * kTableBytes).error().code, Code::damaged);
  ASSERT_EQ(rename(scratch.at("space").c_str(), scratch.at("moved").c_str()), 0);
  EXPECT_FALSE(folder->in_place(*second).value());
  mkdir(scratch.at("space").c_str(), 0700);
  EXPECT_FALSE(folder->in_place(*second).value());
  ASSERT_EQ(rmdir(scratch.at("space").c_str()), 0);
  ASSERT_EQ(rename(scratch.at("moved").c_str(), scratch.at("space").c_str()), 0);
  EXPECT_TRUE(folder->in_place(*second).value());
  ASSERT_EQ(unlink(scratch.at("space/table").c_str()), 0);
  EXPECT_FALSE(folder->in_place(*second).value());
}

TEST(Table, WhatIsNoTableIsNotMapped) {
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  const auto refused = [&] {
    const auto mapped = folder->map_table(kTableBytes, kMappedBytes);
    return !mapped && mapped.error().code == Code::damaged &&
           mapped.error().message.find("/table") != std::string::npos;
  };
  const std::string whole(kTableBytes, 'x');
  scratch.put("table", std::string(kTableBytes - 1, 'x'));
  EXPECT_TRUE(refused()) << "too short";
  scratch.put("table", whole);
  EXPECT_FALSE(refused());
  ASSERT_EQ(link(scratch.at("table").c_str(), scratch.at("other").c_str()), 0);
  EXPECT_TRUE(refused()) << "two names";
  unlink(scratch.at("table").c_str());
  ASSERT_EQ(symlink("other", scratch.at("table").c_str()), 0);
  EXPECT_TRUE(refused()) << "a link";
  unlink(scratch.at("table").c_str());
  ASSERT_EQ(mkdir(scratch.at("table").c_str(), 0700), 0);
  EXPECT_TRUE(refused()) << "a folder";
  EXPECT_EQ(folder->make_table(kTableBytes, kMappedBytes, [](std::byte*) {}).error().code, Code::damaged);
  rmdir(scratch.at("table").c_str());
  ASSERT_EQ(mkfifo(scratch.at("table").c_str(), 0600), 0);
  EXPECT_TRUE(refused()) << "a FIFO";
}

TEST(Table, OfAnotherUserIsNotMapped) {
  TENURE_NEEDS_ROOT();
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  scratch.put("table", std::string(kTableBytes, 'x'));
  ASSERT_EQ(chown(scratch.at("table").c_str(), 65534, 65534), 0);
  EXPECT_EQ(folder->map_table(kTableBytes, kMappedBytes).error().code, Code::damaged);
  // In a space of several users it may be anybody's.
  FolderChecks shared;
  shared.any_owner = shared.group_ok = true;
  EXPECT_TRUE(open_local(scratch.path(), shared)->map_table(kTableBytes, kMappedBytes));
}

TEST(Table, CanBeReadWhereOnlyReadingIsAllowed) {
  TENURE_NEEDS_ROOT();
  const Scratch scratch;
  const auto folder = enter_local(scratch.path());
  const auto table = make_local_table(*folder);
  chmod(scratch.path().c_str(), 0755);
  chmod(scratch.at("table").c_str(), 0644);
  Child child([&](Child&) {
    if (setuid(65534) != 0) return 1;
    FolderChecks looking;
    looking.any_owner = looking.observe_only = true;
    const auto own = open_local(scratch.path(), looking);
    const auto mapped = map_local_table(*own);
    return mapped && word_of(*mapped, 3).load() == 0 ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Table, AFullDiskRefusesAndLeavesNothing) {
  TENURE_NEEDS_ROOT();
  const Scratch scratch;
  Child child([&](Child&) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (mount("none", scratch.path().c_str(), "tmpfs", 0, "mode=700,size=1m") != 0) return 77;
    const auto folder = enter_local(scratch.path());
    const auto table = make_local_table(*folder);
    if (!table || !folder->enter_alone().value_or(false)) return 1;
    const auto full = folder->make_table(2 * 1024 * 1024, kMappedBytes, [](std::byte*) {});
    if (full || full.error().code != Code::no_space || full.error().remedy.empty()) return 2;
    if (scratch.count() != 2 || !folder->in_place(*table).value_or(false)) return 3;  // lock and table
    const auto grown = table->allocate(2 * 1024 * 1024);
    if (grown || grown.error().code != Code::no_space) return 4;
    if (!table->allocate(2 * kTableBytes)) return 5;
    word_of(*table, 2 * kTableBytes / sizeof(env::Word) - 1).store(1);
    return 0;
  });
  const int code = child.wait();
  if (code == 77) GTEST_SKIP() << "NOT TESTED: nothing can be mounted here";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace tenure::os
