// Who is in a local space: enter, enter_alone, let_others_in, leave, between processes.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <vector>

#include "os/linux/local_test.h"

namespace tenure::os {
namespace {

constexpr Duration kShort = std::chrono::milliseconds{20};

TEST(Entry, TwoMembersAreInAndNeitherIsAlone) {
  const Scratch scratch;
  const auto first = enter_local(scratch.path());
  const auto second = enter_local(scratch.path());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->lock_file(), second->lock_file());
  EXPECT_NE(first->lock_file().inode, 0U);
  EXPECT_FALSE(first->enter_alone().value());
  EXPECT_FALSE(second->enter_alone().value());
  // Both are still in: a third is not alone when either has left.
  first->leave();
  const auto third = enter_local(scratch.path());
  EXPECT_FALSE(third->enter_alone().value());
  second->leave();
  EXPECT_TRUE(third->enter_alone().value());
  EXPECT_TRUE(third->enter_alone().value());
  // Entering is the way back, too.
  EXPECT_TRUE(third->enter(kShort));
  EXPECT_TRUE(first->enter(kShort));
  EXPECT_FALSE(third->enter_alone().value());
}

TEST(Entry, NobodyComesInWhileOneIsAlone) {
  const Scratch scratch;
  Child child([&](Child& self) {
    const auto folder = enter_local(scratch.path());
    if (!folder->enter_alone().value_or(false)) return 1;
    self.tell();
    if (!self.told()) return 2;
    if (!folder->let_others_in()) return 3;
    self.tell();
    return self.told() ? 0 : 4;
  });
  ASSERT_TRUE(child.told());
  const auto folder = open_local(scratch.path());
  const auto refused = folder->enter(kShort);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::section_busy);
  EXPECT_NE(refused.error().message.find(scratch.path()), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("pid " + std::to_string(child.pid())), std::string::npos)
      << refused.error().message;
  child.tell();
  ASSERT_TRUE(child.told());
  EXPECT_TRUE(folder->enter(kPatience));
  EXPECT_FALSE(folder->enter_alone().value());
  child.tell();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(folder->enter_alone().value());
}

TEST(Entry, OneWhoWaitsComesInWhenTheOtherEnds) {
  const Scratch scratch;
  Child child([&](Child& self) {
    const auto folder = enter_local(scratch.path());
    if (!folder->enter_alone().value_or(false)) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(child.told());
  const auto folder = open_local(scratch.path());
  EXPECT_FALSE(folder->enter(kShort));
  kill(child.pid(), SIGKILL);
  EXPECT_TRUE(folder->enter(kPatience));
}

TEST(Entry, ManyWhoTryAtOnceAreNeverAloneTogether) {
  const Scratch scratch;
  const SharedWords words;
  enum : std::size_t { kInside, kFault, kAlone };
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>([&](Child&) {
      for (int round = 0; round < 200; ++round) {
        const auto folder = open_local(scratch.path());
        if (!folder->enter(kPatience)) return 1;
        const auto alone = folder->enter_alone();
        if (!alone) return 2;
        if (!*alone) continue;
        if (words[kInside].fetch_add(1) != 0) words[kFault].store(1);
        words[kAlone].fetch_add(1);
        sched_yield();
        words[kInside].fetch_sub(1);
        if (!folder->let_others_in()) return 3;
      }
      return 0;
    }));
  }
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(words[kFault].load(), 0U);
  EXPECT_GT(words[kAlone].load(), 0U);
}

TEST(Entry, ADeletedLockFileIsNoticedAndTheFolderStillTells) {
  const Scratch scratch;
  const auto member = enter_local(scratch.path());
  EXPECT_TRUE(member->lock_in_place().value());
  ASSERT_EQ(unlink(scratch.at("lock").c_str()), 0);
  EXPECT_FALSE(member->lock_in_place().value());
  const auto other = enter_local(scratch.path());
  EXPECT_NE(other->lock_file(), member->lock_file());
  EXPECT_FALSE(other->enter_alone().value()) << "the folder itself is locked too";
}

TEST(Entry, AForkedChildIsNotIn) {
  const Scratch scratch;
  Child parent([&](Child& self) {
    const auto folder = enter_local(scratch.path());
    std::atomic<std::uint32_t> life{0};
    std::atomic<std::uint32_t> inbox{0};
    // The keeper takes the folder over: from then on no descriptor is left that a child could carry on.
    if (!folder->start_keeper({&life, &inbox, [] {}, std::chrono::seconds{1}})) return 1;
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      self.tell();
      return self.silent() ? 0 : 1;
    }
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(parent.told());
  kill(parent.pid(), SIGKILL);
  ASSERT_TRUE(parent.ended());
  const auto folder = enter_local(scratch.path());
  EXPECT_TRUE(folder->enter_alone().value());
}

TEST(Entry, SurvivesThatTheHostClosesEverything) {
  const Scratch scratch;
  const SharedWords words;
  enum : std::size_t { kGo, kReady, kAgain, kDone };
  Child child([&](Child&) {
    auto folder = enter_local(scratch.path());
    closefrom(3);
    const Decoys decoys;
    words.set(kReady);
    if (!words.seen(kGo)) return 1;
    // The other is in: it cannot be alone, and stays in. Its numbers lead elsewhere by now.
    if (folder->enter_alone().value_or(true)) return 2;
    words.set(kAgain);
    if (!words.seen(kDone)) return 3;
    if (!folder->enter_alone().value_or(false)) return 4;
    closefrom(3 + 32);
    if (!folder->let_others_in()) return 5;
    folder->leave();
    folder.reset();
    return decoys.untouched() ? 0 : 6;
  });
  ASSERT_TRUE(words.seen(kReady));
  const auto folder = enter_local(scratch.path());
  EXPECT_FALSE(folder->enter_alone().value()) << "the mapping keeps the other in";
  words.set(kGo);
  ASSERT_TRUE(words.seen(kAgain));
  EXPECT_FALSE(folder->enter_alone().value());
  folder->leave();
  words.set(kDone);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Entry, WhereOnlyReadingIsAllowedNobodyComesIn) {
  TENURE_NEEDS_ROOT();
  const Scratch scratch;
  {
    ASSERT_TRUE(enter_local(scratch.path()));
  }
  chmod(scratch.path().c_str(), 0755);
  Child child([&](Child&) {
    if (setuid(65534) != 0) return 1;
    FolderChecks looking;
    looking.any_owner = looking.observe_only = true;
    const auto folder = RealLocalFolder::open(scratch.path(), false, looking);
    if (!folder) return 2;
    const auto entered = (*folder)->enter(kShort);
    return !entered && entered.error().code == Code::not_permitted ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Place, RefusesAFileSystemThatCannotCarryIt) {
  TENURE_NEEDS_ROOT();
  const Scratch scratch;
  Child child([&](Child&) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (mount("none", scratch.path().c_str(), "ramfs", 0, "mode=700") != 0) return 77;
    const auto odd = RealLocalFolder::open(scratch.path(), false, {}, true);
    if (odd || odd.error().code != Code::unsuitable_folder) return 1;
    if (odd.error().message.find("ramfs") == std::string::npos || odd.error().remedy.empty()) return 2;
    if (mount("none", scratch.path().c_str(), "tmpfs", 0, "mode=700") != 0) return 77;
    const auto passing = RealLocalFolder::open(scratch.path(), false, {}, false);
    if (passing || passing.error().code != Code::unsuitable_folder) return 3;
    if (passing.error().message.find("tmpfs") == std::string::npos) return 4;
    return RealLocalFolder::open(scratch.path(), false, {}, true) ? 0 : 5;
  });
  const int code = child.wait();
  if (code == 77) GTEST_SKIP() << "NOT TESTED: nothing can be mounted here";
  EXPECT_EQ(code, 0);
}

TEST(Place, OnAnOverlayMembersMeetInTheUpperLayer) {
  TENURE_NEEDS_ROOT();
  const Scratch scratch;
  Child child([&](Child&) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    const std::string top = scratch.at("top");
    for (const char* name : {"top", "lower", "upper", "work"}) mkdir(scratch.at(name).c_str(), 0700);
    scratch.put("lower/lock", "");  // as an image may bring along
    const std::string layers =
        "lowerdir=" + scratch.at("lower") + ",upperdir=" + scratch.at("upper") + ",workdir=" + scratch.at("work");
    if (mount("overlay", top.c_str(), "overlay", 0, layers.c_str()) != 0) return 77;
    const auto first = enter_local(top);
    if (!first || first->file_system().name != "overlay" || !scratch.has("upper/lock")) return 1;
    Child second([&](Child&) {
      const auto folder = enter_local(top);
      if (!folder || folder->enter_alone().value_or(true)) return 1;
      return folder->lock_file() == first->lock_file() && folder->take_byte(5).value_or(false) ? 0 : 2;
    });
    if (second.wait() != 0) return 2;
    return make_local_table(*first) && map_local_table(*first) && first->take_byte(5).value_or(false) ? 0 : 3;
  });
  const int code = child.wait();
  if (code == 77) GTEST_SKIP() << "NOT TESTED: no overlay can be mounted here";
  EXPECT_EQ(code, 0);
}

TEST(Place, AMovedFolderIsNotTakenForItsSuccessor) {
  const Scratch scratch;
  mkdir(scratch.at("a").c_str(), 0700);
  const auto folder = enter_local(scratch.at("a"));
  ASSERT_EQ(rename(scratch.at("a").c_str(), scratch.at("b").c_str()), 0);
  EXPECT_EQ(folder->take_byte(1).error().code, Code::unreachable);
  mkdir(scratch.at("a").c_str(), 0700);
  EXPECT_EQ(folder->take_byte(1).error().code, Code::unreachable);
  EXPECT_EQ(folder->directory().list(10).error().code, Code::unreachable);
  EXPECT_FALSE(folder->directory().in_place().value());
  EXPECT_NE(folder->birth(), open_local(scratch.at("a"))->birth());
  EXPECT_EQ(folder->birth(), open_local(scratch.at("b"))->birth());
}

}  // namespace
}  // namespace tenure::os
