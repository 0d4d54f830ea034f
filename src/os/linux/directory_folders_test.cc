// Folders in a folder: how they are opened, made and removed, and what moves and links between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <atomic>
#include <thread>

#include "os/linux/local_directory.h"
#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

using env::EntryKind;
using env::Moved;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::size_t kMostBytes = 4096;
constexpr uid_t kStranger = 65534;

class FoldersTest : public testing::Test {
 protected:
  // The folder under the name, which must be there.
  static std::unique_ptr<env::Directory> in(env::Directory& outer, const std::string& name) {
    auto opened = outer.open_folder(name);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    EXPECT_TRUE(!opened || *opened != nullptr) << name << " is not there";
    return opened ? std::move(*opened) : nullptr;
  }
  static std::string read(env::Directory& folder, const std::string& name) {
    const auto content = folder.read(name, kMostBytes);
    return !content ? content.error().message : *content ? (*content)->bytes : "nothing";
  }
  static mode_t mode_at(const std::string& path) {
    struct stat status{};
    return lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  std::unique_ptr<RealDirectory> many_names() const { return scratch.open({.most_links = 3}); }

  Scratch scratch;
  std::unique_ptr<RealDirectory> folder = scratch.open();
};

// ---- looking

TEST_F(FoldersTest, LookTellsTheKindOfTheThingItself) {
  scratch.put("file", "x");
  ASSERT_EQ(mkdir(scratch.at("folder").c_str(), 0700), 0);
  ASSERT_EQ(symlink("folder", scratch.at("link").c_str()), 0);
  ASSERT_EQ(mkfifo(scratch.at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(folder->look("file")->kind, EntryKind::file);
  EXPECT_EQ(folder->look("folder")->kind, EntryKind::folder);
  EXPECT_EQ(folder->look("link")->kind, EntryKind::other);
  EXPECT_EQ(folder->look("fifo")->kind, EntryKind::other);
  EXPECT_EQ(folder->look("none")->kind, EntryKind::absent);
  const auto content = folder->read("file", kMostBytes);
  EXPECT_EQ(folder->look("file")->identity, (*content)->identity);
  EXPECT_EQ(folder->look("file")->modified, (*content)->modified);
}

TEST_F(FoldersTest, OnlySingleComponentsAreNames) {
  for (const char* name : {"", ".", "..", "a/b", "/a"}) {
    EXPECT_EQ(folder->look(name).error().code, Code::internal) << name;
    EXPECT_EQ(folder->open_folder(name).error().code, Code::internal) << name;
    EXPECT_EQ(folder->make_folder(name).error().code, Code::internal) << name;
    EXPECT_EQ(folder->remove_folder(name).error().code, Code::internal) << name;
    EXPECT_EQ(folder->create(name, "x", false).error().code, Code::internal) << name;
    EXPECT_EQ(folder->link(name, *folder, "x").error().code, Code::internal) << name;
    EXPECT_EQ(folder->link("x", *folder, name).error().code, Code::internal) << name;
    EXPECT_EQ(folder->move(name, *folder, "x").error().code, Code::internal) << name;
    EXPECT_EQ(folder->move("x", *folder, name).error().code, Code::internal) << name;
  }
}

// ---- opening

TEST_F(FoldersTest, AnOpenFolderFollowsTheFolderNotTheName) {
  EXPECT_EQ(*folder->open_folder("a"), nullptr);
  ASSERT_TRUE(*folder->make_folder("a"));
  const auto a = in(*folder, "a");
  EXPECT_EQ(a->path(), scratch.at("a"));
  EXPECT_EQ(*a->identity(), folder->look("a")->identity);
  EXPECT_NE(*a->identity(), *folder->identity());
  ASSERT_EQ(*folder->move("a", *folder, "b"), Moved::moved);
  EXPECT_EQ(a->in_place().value_or(true), false);
  ASSERT_TRUE(*folder->make_folder("a"));
  EXPECT_TRUE(*a->create("inside", "1", true));
  EXPECT_EQ(scratch.get("b/inside"), "1");
  EXPECT_FALSE(scratch.has("a/inside"));
  folder.reset();
  EXPECT_EQ(read(*a, "inside"), "1") << "it lives on without the outer one";
}

TEST_F(FoldersTest, WhatIsNoFolderIsNotOpened) {
  scratch.put("file", "x");
  ASSERT_EQ(mkdir(scratch.at("folder").c_str(), 0700), 0);
  ASSERT_EQ(symlink("folder", scratch.at("link").c_str()), 0);
  ASSERT_EQ(mkfifo(scratch.at("fifo").c_str(), 0600), 0);
  for (const char* name : {"file", "link", "fifo"}) {
    const auto refused = folder->open_folder(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Code::damaged) << name;
    EXPECT_THAT(refused.error().message, HasSubstr(name));
  }
  EXPECT_THAT(folder->open_folder("link").error().message, HasSubstr("is a link, not a folder"));
}

TEST_F(FoldersTest, ItsFoldersAreHeldToTheSameRules) {
  ASSERT_TRUE(*folder->make_folder("a"));
  chmod(scratch.at("a").c_str(), 0770);
  const auto by_group = folder->open_folder("a");
  ASSERT_FALSE(by_group);
  EXPECT_EQ(by_group.error().code, Code::unsafe_folder);
  EXPECT_EQ(by_group.error().remedy, "chmod g-w '" + scratch.at("a") + "'");
  EXPECT_TRUE(scratch.open({.group_ok = true})->open_folder("a"));
  chmod(scratch.at("a").c_str(), 0707);
  EXPECT_EQ(scratch.open({.group_ok = true})->open_folder("a").error().code, Code::unsafe_folder);
  EXPECT_TRUE(scratch.open({.observe_only = true})->open_folder("a"));
}

TEST_F(FoldersTest, AnotherUsersFolderIsRefusedUnlessAnyOwnerWillDo) {
  TENURE_NEEDS_ROOT();
  ASSERT_TRUE(*folder->make_folder("a"));
  ASSERT_EQ(chown(scratch.at("a").c_str(), kStranger, kStranger), 0);
  const auto refused = folder->open_folder("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsafe_folder);
  EXPECT_TRUE(scratch.open({.any_owner = true})->open_folder("a"));
  ASSERT_EQ(chown(scratch.path().c_str(), kStranger, kStranger), 0);
  const auto told = scratch.open({.any_owner = true});
  ASSERT_TRUE(*told->make_folder("b"));
  struct stat status{};
  ASSERT_EQ(stat(scratch.at("b").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kStranger) << "its owner can go on with what root left";
}

// ---- making and removing

TEST_F(FoldersTest, MakesForUsAloneOrForTheGroup) {
  const mode_t former = umask(077);
  EXPECT_TRUE(*folder->make_folder("a"));
  EXPECT_TRUE(*scratch.open({.group_ok = true})->make_folder("b"));
  umask(former);
  EXPECT_EQ(mode_at(scratch.at("a")), 0700U);
  EXPECT_EQ(mode_at(scratch.at("b")), 0770U);
  EXPECT_FALSE(*folder->make_folder("a")) << "the name is taken";
  scratch.put("file", "x");
  EXPECT_FALSE(*folder->make_folder("file"));
}

TEST_F(FoldersTest, AFolderForTheGroupKeepsWhatMakesItsFilesTheGroups) {
  chmod(scratch.path().c_str(), 02770);
  ASSERT_TRUE(*scratch.open({.group_ok = true})->make_folder("a"));
  EXPECT_EQ(mode_at(scratch.at("a")), 02770U);
  const auto a = in(*scratch.open({.group_ok = true}), "a");
  ASSERT_TRUE(*a->create("file", "x", false));
  EXPECT_EQ(mode_at(scratch.at("a/file")), 0660U);
}

TEST_F(FoldersTest, RemovesOnlyAnEmptyFolder) {
  EXPECT_FALSE(*folder->remove_folder("a"));
  ASSERT_TRUE(*folder->make_folder("a"));
  scratch.put("a/x", "1");
  scratch.put("file", "x");
  EXPECT_EQ(folder->remove_folder("a").error().code, Code::damaged);
  EXPECT_EQ(folder->remove_folder("file").error().code, Code::damaged);
  EXPECT_TRUE(*in(*folder, "a")->remove("x"));
  EXPECT_TRUE(*folder->remove_folder("a"));
  EXPECT_FALSE(scratch.has("a"));
  EXPECT_TRUE(scratch.has("file"));
}

TEST_F(FoldersTest, NothingIsMadeInARemovedFolder) {
  ASSERT_TRUE(*folder->make_folder("a"));
  const auto a = in(*folder, "a");
  ASSERT_TRUE(*folder->remove_folder("a"));
  ASSERT_TRUE(*folder->create("file", "x", false));
  EXPECT_FALSE(a->create("x", "1", false));
  EXPECT_FALSE(a->make_folder("x"));
  EXPECT_EQ(folder->move("file", *a, "x").error().code, Code::input_output) << "not missing: the file is there";
  EXPECT_EQ(folder->link("file", *a, "x").error().code, Code::input_output);
  EXPECT_THAT(*a->list(10), IsEmpty());
  EXPECT_EQ(read(*a, "x"), "nothing");
}

TEST_F(FoldersTest, CreateMakesAWholeFileAndReplacesNone) {
  const mode_t former = umask(0);
  EXPECT_TRUE(*folder->create("a", std::string(100'000, 'x'), true));
  umask(former);
  EXPECT_EQ(scratch.get("a").size(), 100'000U);
  EXPECT_EQ(mode_at(scratch.at("a")), 0600U);
  EXPECT_FALSE(*folder->create("a", "y", true));
  EXPECT_EQ(scratch.get("a").size(), 100'000U);
  ASSERT_EQ(symlink("nowhere", scratch.at("link").c_str()), 0);
  EXPECT_FALSE(*folder->create("link", "y", true)) << "it was followed";
  EXPECT_TRUE(*folder->create("empty", "", false));
  EXPECT_EQ(read(*folder, "empty"), "");
}

TEST_F(FoldersTest, CreateLeavesNothingWhereThereIsNoRoom) {
  TENURE_NEEDS_ROOT();
  ASSERT_EQ(mkdir(scratch.at("small").c_str(), 0700), 0);
  if (mount("none", scratch.at("small").c_str(), "tmpfs", 0, "size=16k,mode=0700") != 0) {
    GTEST_SKIP() << "NOT TESTED: nothing can be mounted here";
  }
  {
    const auto small = RealDirectory::open(scratch.at("small"), false);
    ASSERT_TRUE(small);
    const auto refused = (*small)->create("a", std::string(100'000, 'x'), true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::no_space);
    EXPECT_THAT(*(*small)->list(10), IsEmpty());
    EXPECT_TRUE(*(*small)->create("a", "x", true));
    // A move to another file system is refused, and leaves everything as it is.
    EXPECT_EQ((*small)->move("a", *folder, "a").error().code, Code::input_output);
    EXPECT_EQ((*small)->link("a", *folder, "a").error().code, Code::input_output);
    EXPECT_EQ(read(**small, "a"), "x");
  }
  EXPECT_EQ(umount(scratch.at("small").c_str()), 0);
}

// ---- several names of a file

TEST_F(FoldersTest, ALinkIsTheWholeFileUnderOneMoreName) {
  const auto many = many_names();
  ASSERT_TRUE(*many->make_folder("in"));
  const auto inner = in(*many, "in");
  ASSERT_TRUE(*inner->create("a", "content", true));
  EXPECT_TRUE(*inner->link("a", *many, "b"));
  EXPECT_TRUE(*many->link("b", *many, "c"));
  EXPECT_EQ(read(*many, "b"), "content");
  EXPECT_EQ(read(*inner, "a"), "content") << "the folder in it has the same rule";
  EXPECT_EQ(many->look("b")->identity, inner->look("a")->identity);
  EXPECT_FALSE(*inner->link("a", *many, "b")) << "taken, though by the same file";
  scratch.put("d", "other");
  EXPECT_FALSE(*inner->link("a", *many, "d"));
  EXPECT_EQ(scratch.get("d"), "other");
  EXPECT_TRUE(*inner->link("a", *many, "e"));
  EXPECT_EQ(many->read("b", kMostBytes).error().code, Code::damaged) << "a fourth name is one too many";
  EXPECT_EQ(folder->read("b", kMostBytes).error().code, Code::damaged);
}

TEST_F(FoldersTest, OnlyAFileGetsAFurtherName) {
  ASSERT_TRUE(*folder->make_folder("folder"));
  ASSERT_EQ(symlink("/etc/passwd", scratch.at("link").c_str()), 0);
  for (const char* name : {"none", "folder", "link"}) {
    EXPECT_EQ(folder->link(name, *folder, "b").error().code, Code::damaged) << name;
  }
  EXPECT_FALSE(scratch.has("b"));
}

TEST_F(FoldersTest, ALifeLockIsOneUnderAllNamesOfItsFile) {
  const auto many = many_names();
  ASSERT_TRUE(*many->make_folder("in"));
  const auto inner = in(*many, "in");
  ASSERT_TRUE(*inner->create("life", "record\n", true));
  auto life = inner->take_life("life", "life.new", false, false);
  ASSERT_TRUE(life) << life.error().message;
  const FileIdentity file = (*life)->identity();
  for (const char* name : {"one", "two"}) ASSERT_TRUE(*inner->link("life", *many, name));
  for (const char* name : {"one", "two"}) {
    EXPECT_EQ(many->probe_life(name, file).sight, LifeSight::held) << name;
    EXPECT_EQ(many->take_life(name, "x", false, false).error().code, Code::held) << name;
    EXPECT_EQ(read(*many, name), "record\n");
  }
  EXPECT_EQ(folder->probe_life("one", file).sight, LifeSight::unreadable) << "where only one name is allowed";
  EXPECT_TRUE(*many->remove("one"));
  EXPECT_EQ(many->probe_life("two", file).sight, LifeSight::held) << "a name less frees nothing";
  ASSERT_EQ(*many->move("in", *many, "moved"), Moved::moved);
  EXPECT_EQ(inner->probe_life("life", file).sight, LifeSight::held);
  life->reset();
  EXPECT_EQ(many->probe_life("two", file).sight, LifeSight::free);
  EXPECT_EQ(inner->probe_life("life", file).sight, LifeSight::free);
  EXPECT_TRUE(many->take_life("two", "x", false, false)) << "free under the other name, too";
}

// ---- moving

TEST_F(FoldersTest, MovesFilesAndFoldersAndReplacesNothing) {
  ASSERT_TRUE(*folder->make_folder("in"));
  ASSERT_TRUE(*folder->make_folder("out"));
  const auto inner = in(*folder, "in");
  const auto outer = in(*folder, "out");
  scratch.put("in/a", "1");
  scratch.put("out/a", "2");
  ASSERT_EQ(mkdir(scratch.at("in/full").c_str(), 0700), 0);
  scratch.put("in/full/x", "3");
  ASSERT_EQ(mkdir(scratch.at("out/empty").c_str(), 0700), 0);
  EXPECT_EQ(*inner->move("none", *outer, "b"), Moved::missing);
  EXPECT_EQ(*inner->move("none", *outer, "a"), Moved::missing);
  EXPECT_EQ(*inner->move("a", *outer, "a"), Moved::taken);
  EXPECT_EQ(*inner->move("full", *outer, "a"), Moved::taken);
  EXPECT_EQ(*inner->move("full", *outer, "empty"), Moved::taken) << "an empty folder was replaced";
  EXPECT_EQ(*inner->move("a", *outer, "empty"), Moved::taken);
  EXPECT_EQ(*inner->move("a", *outer, "b"), Moved::moved);
  EXPECT_EQ(*inner->move("full", *outer, "full"), Moved::moved);
  EXPECT_EQ(*outer->move("full", *outer, "still"), Moved::moved);
  EXPECT_THAT(*inner->list(10), IsEmpty());
  EXPECT_THAT(*outer->list(10), UnorderedElementsAre("a", "b", "empty", "still"));
  EXPECT_EQ(scratch.get("out/a"), "2");
  EXPECT_EQ(scratch.get("out/still/x"), "3");
}

TEST_F(FoldersTest, AFolderDoesNotMoveIntoItself) {
  ASSERT_TRUE(*folder->make_folder("a"));
  EXPECT_FALSE(folder->move("a", *in(*folder, "a"), "b"));
  EXPECT_TRUE(scratch.has("a"));
}

// In a child for which the kernel knows no rename that replaces nothing, as file systems exist that do not.
int in_a_world_without_noreplace(const std::function<bool()>& holds) {
  Child child([&](Child&) {
    // The flags are the fifth argument, so that all of renameat2 goes; plain renames are another call.
    if (!forbid(SYS_renameat2, 0, EINVAL)) return 2;
    return holds() ? 0 : 1;
  });
  return child.wait();
}

TEST_F(FoldersTest, WithoutSuchARenameItMovesInSteps) {
  const auto many = many_names();
  for (const char* name : {"in", "out", "in/full", "in/none", "out/full", "out/empty"}) {
    ASSERT_EQ(mkdir(scratch.at(name).c_str(), 0700), 0);
  }
  for (const char* name : {"in/a", "in/full/x", "out/a", "out/full/y"}) scratch.put(name, name);
  const auto inner = in(*many, "in");
  const auto outer = in(*many, "out");
  const int result = in_a_world_without_noreplace([&] {
    return *inner->move("gone", *outer, "b") == Moved::missing && *inner->move("a", *outer, "a") == Moved::taken &&
           *inner->move("a", *outer, "full") == Moved::taken && *inner->move("full", *outer, "a") == Moved::taken &&
           *inner->move("full", *outer, "full") == Moved::taken &&
           *inner->move("full", *outer, "empty") == Moved::taken && *inner->move("a", *outer, "b") == Moved::moved &&
           *inner->move("full", *outer, "moved") == Moved::moved && *inner->move("none", *outer, "c") == Moved::moved;
  });
  ASSERT_EQ(result, 0);
  EXPECT_THAT(*inner->list(10), IsEmpty());
  EXPECT_THAT(*outer->list(10), UnorderedElementsAre("a", "b", "c", "empty", "full", "moved"));
  EXPECT_EQ(scratch.get("out/b"), "in/a");
  EXPECT_EQ(read(*outer, "b"), "in/a");
  EXPECT_EQ(folder->look("out")->kind, EntryKind::folder);
  struct stat status{};
  ASSERT_EQ(stat(scratch.at("out/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 1U) << "the former name is gone";
}

// ---- races

constexpr int kRounds = 200;
constexpr int kMovers = 4;

// Lets all movers go at once, and gives what each of them heard.
std::vector<Result<Moved>> race(const std::function<Result<Moved>(int)>& move) {
  std::vector<Result<Moved>> heard(kMovers, Moved::missing);
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kMovers; ++i) {
    threads.emplace_back([&, i] {
      for (++ready; ready < kMovers;) sched_yield();
      heard[static_cast<std::size_t>(i)] = move(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return heard;
}

std::ptrdiff_t count(const std::vector<Result<Moved>>& heard, Moved what) {
  return std::ranges::count_if(heard, [&](const auto& each) { return each && *each == what; });
}

TEST_F(FoldersTest, OfManyThatMoveOntoOneNameOneHasIt) {
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kMovers; ++i) {
      const std::string mine = "mine" + std::to_string(i);
      if (!*folder->make_folder(mine)) continue;
      ASSERT_TRUE(*in(*folder, mine)->create("owner", std::to_string(i), false));
    }
    const auto heard = race([&](int i) { return folder->move("mine" + std::to_string(i), *folder, "lock"); });
    ASSERT_EQ(count(heard, Moved::moved), 1);
    ASSERT_EQ(count(heard, Moved::taken), kMovers - 1);
    const auto lock = in(*folder, "lock");
    const auto owner = static_cast<std::size_t>(std::stoi(read(*lock, "owner")));
    ASSERT_EQ(*heard[owner], Moved::moved);
    ASSERT_TRUE(*lock->remove("owner"));
    ASSERT_TRUE(*folder->remove_folder("lock"));
  }
}

TEST_F(FoldersTest, OfManyThatMoveOneThingAwayOneHasIt) {
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(*folder->create("thing", "x", false));
    const auto heard = race([&](int i) { return folder->move("thing", *folder, "to" + std::to_string(i)); });
    ASSERT_EQ(count(heard, Moved::moved), 1);
    ASSERT_EQ(count(heard, Moved::missing), kMovers - 1);
    for (int i = 0; i < kMovers; ++i) {
      ASSERT_EQ(*folder->remove("to" + std::to_string(i)), *heard[static_cast<std::size_t>(i)] == Moved::moved);
    }
  }
}

TEST_F(FoldersTest, MovesInStepsAreRacedFairlyToo) {
  const auto many = many_names();
  const int result = in_a_world_without_noreplace([&] {
    for (int round = 0; round < kRounds; ++round) {
      if (!*many->create("thing", "x", false)) return false;
      const auto away = race([&](int i) { return many->move("thing", *many, "to" + std::to_string(i)); });
      if (count(away, Moved::moved) != 1 || count(away, Moved::missing) != kMovers - 1) return false;
      for (int i = 0; i < kMovers; ++i) {
        const std::string name = "to" + std::to_string(i);
        if (*many->remove(name) != (*away[static_cast<std::size_t>(i)] == Moved::moved)) return false;
        if (!*many->create(name, name, false)) return false;
      }
      const auto onto = race([&](int i) { return many->move("to" + std::to_string(i), *many, "one"); });
      if (count(onto, Moved::moved) != 1 || count(onto, Moved::taken) != kMovers - 1) return false;
      for (int i = 0; i < kMovers; ++i) {
        if (!many->remove("to" + std::to_string(i))) return false;
      }
      if (!*many->remove("one")) return false;
    }
    return true;
  });
  EXPECT_EQ(result, 0);
  EXPECT_THAT(*many->list(10), IsEmpty());
}

TEST_F(FoldersTest, OfManyThatLinkOntoOneNameOneHasIt) {
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kMovers; ++i) folder->create("mine" + std::to_string(i), std::to_string(i), false);
    const auto heard = race([&](int i) -> Result<Moved> {
      const auto linked = folder->link("mine" + std::to_string(i), *folder, "guard");
      if (!linked) return fail(linked.error());
      return *linked ? Moved::moved : Moved::taken;
    });
    ASSERT_EQ(count(heard, Moved::moved), 1);
    ASSERT_EQ(count(heard, Moved::taken), kMovers - 1);
    ASSERT_TRUE(*folder->remove("guard"));
  }
}

// ---- watching

TEST_F(FoldersTest, AWatchSeesTheNamesOfItsOwnFolder) {
  ASSERT_TRUE(*folder->make_folder("in"));
  const auto inner = in(*folder, "in");
  auto outside = folder->watch();
  auto inside = inner->watch();
  ASSERT_TRUE(outside && inside);
  ASSERT_TRUE(*inner->create("a", "1", false));
  EXPECT_THAT((*inside)->wait(std::chrono::seconds(30), nullptr, -1)->names, testing::Contains("a"));
  EXPECT_THAT((*outside)->wait(Duration::zero(), nullptr, -1)->names, IsEmpty());
  ASSERT_EQ(*folder->move("in", *folder, "out"), Moved::moved);
  EXPECT_THAT((*outside)->wait(std::chrono::seconds(30), nullptr, -1)->names, ElementsAre("in", "out"));
  EXPECT_TRUE((*inside)->wait(std::chrono::seconds(30), nullptr, -1)->everything) << "it was moved itself";
  ASSERT_TRUE(*inner->create("b", "1", false));
  EXPECT_THAT((*inside)->wait(std::chrono::seconds(30), nullptr, -1)->names, testing::Contains("b"));
}

TEST_F(FoldersTest, ADeathIsToldInTheFolderThroughWhichTheLifeLockWasTaken) {
  const auto many = many_names();
  ASSERT_TRUE(*many->make_folder("in"));
  Child holder([&](Child& self) {
    const auto inner = *many->open_folder("in");
    const auto life = inner->take_life("life", "life.new", false, false);
    if (!life || !inner->link("life", *many, "guard")) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(holder.told());
  ASSERT_EQ(*many->move("in", *many, "lock"), Moved::moved);
  auto outside = many->watch();
  auto inside = in(*many, "lock")->watch();
  ASSERT_TRUE(outside && inside);
  holder.tell();
  EXPECT_THAT((*inside)->wait(std::chrono::seconds(30), nullptr, -1)->names, ElementsAre("life"));
  EXPECT_THAT((*outside)->wait(Duration::zero(), nullptr, -1)->names, IsEmpty()) << "its other name is not told of";
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(eventually([&] { return many->probe_life("guard", std::nullopt).sight == LifeSight::free; }));
}

// ---- the folder of a local space, of which no descriptor is kept

TEST_F(FoldersTest, AFolderThatIsOpenedForEachCallTakesPart) {
  const auto place = LocalPlace::find(scratch.path(), false, {.most_links = 2}, true);
  if (!place) GTEST_SKIP() << "NOT TESTED: " << place.error().message;
  LocalDirectory local(*place);
  ASSERT_TRUE(*local.make_folder("in"));
  const auto inner = in(local, "in");
  ASSERT_TRUE(*local.create("a", "1", true));
  EXPECT_EQ(*local.move("a", *inner, "a"), Moved::moved);
  EXPECT_TRUE(*inner->link("a", local, "b"));
  EXPECT_EQ(read(local, "b"), "1");
  EXPECT_EQ(*inner->move("a", local, "b"), Moved::taken);
  EXPECT_TRUE(*local.remove("b"));
  EXPECT_EQ(*inner->move("a", local, "b"), Moved::moved);
  EXPECT_EQ(local.look("b")->kind, EntryKind::file);
  EXPECT_EQ(*local.identity(), *folder->identity());
  EXPECT_TRUE(*local.remove_folder("in"));
  EXPECT_TRUE(*folder->link("b", local, "c")) << "it reaches into one that is kept open, and the other way round";
}

}  // namespace
}  // namespace tenure::os
