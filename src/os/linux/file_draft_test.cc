#include "os/linux/file_draft.h"

#include <sys/file.h>
#include <sys/xattr.h>

#include <array>
#include <vector>

#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

constexpr int kMost = 3;
constexpr char kMark[] = "user.tenure.epoch";

class Draft : public testing::Test {
 protected:
  Result<FileDraft> begin() const { return FileDraft::begin(directory_->folder(), "f", ".f.draft-", kMost); }
  void replace(std::string_view bytes) const {
    auto draft = begin();
    ASSERT_TRUE(draft) << draft.error().message;
    ASSERT_TRUE(draft->append(bytes));
    const auto dressed = draft->dress(kMark, "7");
    ASSERT_TRUE(dressed) << dressed.error().message;
    ASSERT_TRUE(draft->put_in_place());
  }
  mode_t mode_of(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(stat(scratch_.at(name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  std::string attribute(const char* name) const {
    std::string value(256, '\0');
    const ssize_t size = getxattr(scratch_.at("f").c_str(), name, value.data(), value.size());
    return size < 0 ? "none" : value.substr(0, static_cast<std::size_t>(size));
  }

  Scratch scratch_;
  std::unique_ptr<RealDirectory> directory_ = scratch_.open();
};

TEST_F(Draft, ReplacesAsAWholeAndLeavesNothing) {
  scratch_.put("f", "old", 0640);
  {
    auto draft = begin();
    ASSERT_TRUE(draft);
    ASSERT_TRUE(draft->append("ne"));
    ASSERT_TRUE(draft->append("w"));
    EXPECT_EQ(draft->size(), 3U);
    EXPECT_EQ(scratch_.get("f"), "old");
    EXPECT_EQ(mode_of(".f.draft-0"), 0600U) << "what is written is not for more eyes than the file";
    ASSERT_TRUE(draft->dress(kMark, "7"));
    ASSERT_TRUE(draft->put_in_place());
  }
  EXPECT_EQ(scratch_.get("f"), "new");
  EXPECT_EQ(mode_of("f"), 0640U);
  EXPECT_EQ(scratch_.count(), 1U);
  // Nobody's flock is left on it.
  const Fd file(::open(scratch_.at("f").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(flock(file.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(Draft, GivenUpItLeavesNothing) {
  {
    ASSERT_TRUE(begin());
  }
  EXPECT_EQ(scratch_.count(), 0U);
}

TEST_F(Draft, ANewFileIsAsTheUmaskHasIt) {
  const mode_t before = umask(027);
  replace("x");
  umask(before);
  EXPECT_EQ(mode_of("f"), 0640U);
}

TEST_F(Draft, SetIdBitsAreNotKept) {
  scratch_.put("f", "old", 06755);
  replace("new");
  EXPECT_EQ(mode_of("f"), 0755U);
}

TEST_F(Draft, AttributesAreKeptButTheMark) {
  scratch_.put("f", "old");
  if (setxattr(scratch_.at("f").c_str(), "user.colour", "red", 3, 0) != 0) GTEST_SKIP() << "no user attributes here";
  ASSERT_EQ(setxattr(scratch_.at("f").c_str(), kMark, "999", 3, 0), 0);
  replace("new");
  EXPECT_EQ(attribute("user.colour"), "red");
  EXPECT_EQ(attribute(kMark), "7");
}

// As the kernel lays it out: version 2, then tag, rights and id of each entry. Owner rw, user 12345 rw, group r, mask
// rw.
std::string access_list() {
  std::string bytes("\x02\0\0\0", 4);
  for (const auto& [tag, rights, id] : std::vector<std::array<std::uint32_t, 3>>{
           {1, 6, 0xffffffff}, {2, 6, 12345}, {4, 4, 0xffffffff}, {0x10, 6, 0xffffffff}, {0x20, 0, 0xffffffff}}) {
    const std::uint32_t head = tag | (rights << 16U);
    bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
    bytes.append(reinterpret_cast<const char*>(&id), sizeof id);
  }
  return bytes;
}

TEST_F(Draft, TheAccessListIsKept) {
  scratch_.put("f", "old", 0640);
  const std::string list = access_list();
  if (setxattr(scratch_.at("f").c_str(), "system.posix_acl_access", list.data(), list.size(), 0) != 0) {
    GTEST_SKIP() << "no access lists here";
  }
  replace("new");
  EXPECT_EQ(attribute("system.posix_acl_access"), list);
}

TEST_F(Draft, TheFolderGivesNobodyAccessWhoHadNone) {
  scratch_.put("f", "old", 0640);
  const std::string list = access_list();
  if (setxattr(scratch_.path().c_str(), "system.posix_acl_default", list.data(), list.size(), 0) != 0) {
    GTEST_SKIP() << "no access lists here";
  }
  replace("new");
  EXPECT_EQ(attribute("system.posix_acl_access"), "none");
  EXPECT_EQ(mode_of("f"), 0640U);
}

TEST_F(Draft, TheOwnerIsKept) {
  TENURE_NEEDS_ROOT();
  scratch_.put("f", "old", 0604);
  ASSERT_EQ(chown(scratch_.at("f").c_str(), 12345, 23456), 0);
  replace("new");
  struct stat status{};
  ASSERT_EQ(stat(scratch_.at("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345U);
  EXPECT_EQ(status.st_gid, 23456U);
  EXPECT_EQ(mode_of("f"), 0604U);
}

TEST_F(Draft, AFileOfSomebodyElseIsNotTakenOver) {
  TENURE_NEEDS_ROOT();
  scratch_.put("f", "old");
  ASSERT_EQ(chown(scratch_.at("f").c_str(), 12345, 0), 0);
  ASSERT_EQ(chown(scratch_.path().c_str(), 23456, 0), 0);
  Child child([&](Child&) {
    if (setuid(23456) != 0) return 2;
    auto draft = begin();
    if (!draft) return 3;
    const auto dressed = draft->dress(kMark, "7");
    return !dressed && dressed.error().code == Code::not_permitted ? 0 : 4;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(scratch_.get("f"), "old");
  EXPECT_EQ(scratch_.count(), 1U);
}

TEST_F(Draft, OnlyAFileWithOneNameIsReplaced) {
  const std::vector<std::function<void()>> odd = {
      [&] { ASSERT_EQ(symlink("elsewhere", scratch_.at("f").c_str()), 0); },
      [&] { ASSERT_EQ(mkfifo(scratch_.at("f").c_str(), 0600), 0); },
      [&] {
        scratch_.put("other", "x");
        ASSERT_EQ(link(scratch_.at("other").c_str(), scratch_.at("f").c_str()), 0);
      },
      [&] { ASSERT_EQ(mkdir(scratch_.at("f").c_str(), 0700), 0); },
  };
  for (const auto& make : odd) {
    make();
    const auto checked = check_replaceable(directory_->folder(), "f");
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::usage);
    EXPECT_FALSE(begin());
    std::filesystem::remove_all(scratch_.at("f"));
  }
  // Also when it became so meanwhile.
  auto draft = begin();
  ASSERT_TRUE(draft);
  odd.front()();
  EXPECT_EQ(draft->dress(kMark, "7").error().code, Code::usage);
}

TEST_F(Draft, WhatTheDeadLeftIsTakenAwayAndTheLivingKeepTheirs) {
  auto living = begin();
  ASSERT_TRUE(living);
  ASSERT_TRUE(living->append("mine"));
  Child child([&](Child& parent) {
    auto first = begin();
    auto second = begin();
    parent.tell();
    pause();
    return first && second ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(scratch_.count(), 3U);
  const auto refused = begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::limit_reached);
  ASSERT_EQ(kill(child.pid(), SIGKILL), 0);
  EXPECT_EQ(child.wait(), 1000 + SIGKILL);
  EXPECT_EQ(scratch_.count(), 3U);
  {
    auto next = begin();
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(scratch_.count(), 2U) << "the living's, and the new one";
    EXPECT_EQ(scratch_.get(".f.draft-0"), "mine");
  }
  ASSERT_TRUE(living->dress(kMark, "7"));
  ASSERT_TRUE(living->put_in_place());
  EXPECT_EQ(scratch_.get("f"), "mine");
  EXPECT_EQ(scratch_.count(), 1U);
}

TEST_F(Draft, AForkedChildTakesNothingAway) {
  auto draft = begin();
  ASSERT_TRUE(draft);
  Child child([&](Child&) {
    const FileDraft inherited = std::move(*draft);
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(scratch_.has(".f.draft-0"));
  // And it stays locked: the next maker takes another name.
  auto second = begin();
  ASSERT_TRUE(second);
  EXPECT_TRUE(scratch_.has(".f.draft-1"));
}

TEST_F(Draft, StrangeThingsUnderItsNamesAreLeftAlone) {
  ASSERT_EQ(mkdir(scratch_.at(".f.draft-0").c_str(), 0700), 0);
  ASSERT_EQ(symlink("f", scratch_.at(".f.draft-1").c_str()), 0);
  scratch_.put("f", "old");
  replace("new");
  EXPECT_EQ(scratch_.get("f"), "new");
  EXPECT_TRUE(scratch_.has(".f.draft-0"));
  EXPECT_TRUE(scratch_.has(".f.draft-1"));
}

}  // namespace
}  // namespace tenure::os
