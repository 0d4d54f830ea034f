// Folders in the folder of a FakeDisk: they are what they are on a real disk, and forget what was not synced.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/fake_disk.h"

namespace tenure::fakes {
namespace {

using env::EntryKind;
using env::Moved;
using Names = std::vector<std::string>;

constexpr std::chrono::seconds kLongEnough{30};

class FakeFoldersTest : public testing::Test {
 protected:
  static std::string read(env::Directory& in, const std::string& name) {
    const auto content = in.read(name, 1'000);
    return !content ? content.error().message : *content ? (*content)->bytes : "nothing";
  }
  // The folder under the name, made where there is none.
  static std::unique_ptr<env::Directory> made(env::Directory& in, const std::string& name) {
    EXPECT_TRUE(in.make_folder(name));
    auto opened = in.open_folder(name);
    EXPECT_TRUE(opened && *opened != nullptr) << name;
    return opened ? std::move(*opened) : nullptr;
  }

  std::shared_ptr<FakeWorld> world = FakeWorld::create();
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  std::shared_ptr<FakeDisk> disk = FakeDisk::create(world, clock);
  ProcessNumber process = world->spawn();
  std::unique_ptr<env::Directory> folder = disk->open(process);
};

TEST_F(FakeFoldersTest, LookTellsTheKindOfTheThingItself) {
  disk->place("file", Placed::file, "x");
  disk->place("folder", Placed::directory);
  disk->place("link", Placed::link);
  disk->place("fifo", Placed::fifo);
  EXPECT_EQ(folder->look("file")->kind, EntryKind::file);
  EXPECT_EQ(folder->look("folder")->kind, EntryKind::folder);
  EXPECT_EQ(folder->look("link")->kind, EntryKind::other);
  EXPECT_EQ(folder->look("fifo")->kind, EntryKind::other);
  EXPECT_EQ(folder->look("none")->kind, EntryKind::absent);
  EXPECT_EQ(folder->look("file")->identity, (*folder->read("file", 10))->identity);
  EXPECT_EQ(folder->look("file")->modified, (*folder->read("file", 10))->modified);
}

TEST_F(FakeFoldersTest, AnOpenFolderFollowsTheFolderNotTheName) {
  EXPECT_EQ(*folder->open_folder("a"), nullptr);
  const auto a = made(*folder, "a");
  EXPECT_EQ(a->path(), folder->path() + "/a");
  EXPECT_EQ(*a->identity(), folder->look("a")->identity);
  EXPECT_TRUE(*a->in_place());
  ASSERT_EQ(*folder->move("a", *folder, "b"), Moved::moved);
  EXPECT_FALSE(*a->in_place());
  ASSERT_TRUE(*folder->make_folder("a"));
  EXPECT_FALSE(*a->in_place()) << "another folder of the same name is not it";
  ASSERT_TRUE(*a->create("inside", "1", true));
  EXPECT_EQ(disk->bytes("b/inside"), "1");
  EXPECT_EQ(disk->names("a"), Names{});
  EXPECT_EQ(disk->names("b"), Names{"inside"});
  folder.reset();
  EXPECT_EQ(read(*a, "inside"), "1");
}

TEST_F(FakeFoldersTest, WhatIsNoFolderIsNotOpened) {
  for (const Placed kind : {Placed::file, Placed::fifo, Placed::link, Placed::foreign, Placed::unreadable}) {
    disk->place("odd", kind);
    EXPECT_EQ(folder->open_folder("odd").error().code, Code::damaged);
  }
}

TEST_F(FakeFoldersTest, MakesAFolderOnceAndRemovesAnEmptyOne) {
  EXPECT_FALSE(*folder->remove_folder("a"));
  EXPECT_TRUE(*folder->make_folder("a"));
  EXPECT_FALSE(*folder->make_folder("a"));
  disk->place("a/x", Placed::file, "1");
  disk->place("file", Placed::file, "1");
  EXPECT_EQ(folder->remove_folder("a").error().code, Code::damaged);
  EXPECT_EQ(folder->remove_folder("file").error().code, Code::damaged);
  EXPECT_EQ(folder->remove("a").error().code, Code::damaged) << "remove is for files";
  EXPECT_TRUE(*made(*folder, "a")->remove("x"));
  EXPECT_TRUE(*folder->remove_folder("a"));
  EXPECT_EQ(disk->names(), Names{"file"});
}

TEST_F(FakeFoldersTest, NothingIsMadeInARemovedFolder) {
  const auto a = made(*folder, "a");
  disk->place("file", Placed::file, "1");
  ASSERT_TRUE(*folder->remove_folder("a"));
  EXPECT_FALSE(a->create("x", "1", false));
  EXPECT_FALSE(a->replace("x", "x.tmp", "1", false));
  EXPECT_FALSE(a->make_folder("x"));
  EXPECT_FALSE(folder->link("file", *a, "x"));
  EXPECT_EQ(folder->move("file", *a, "x").error().code, Code::input_output);
  EXPECT_EQ(*a->list(10), Names{});
  EXPECT_EQ(disk->names(), Names{"file"});
}

TEST_F(FakeFoldersTest, CreateReplacesNothingAndLeavesNothingOnAnError) {
  EXPECT_TRUE(*folder->create("a", "one", true));
  EXPECT_FALSE(*folder->create("a", "two", true));
  EXPECT_EQ(read(*folder, "a"), "one");
  disk->set_capacity(3);
  EXPECT_EQ(folder->create("b", "x", true).error().code, Code::no_space);
  EXPECT_TRUE(*folder->create("empty", "", true));
  disk->set_capacity(100);
  disk->faults(process)->at("create.sync", 1, {Fault::Kind::refuse, Code::input_output});
  EXPECT_EQ(folder->create("b", "x", true).error().code, Code::input_output);
  disk->faults(process)->at("create.write", 1, {Fault::Kind::lose_answer, Code::input_output});
  EXPECT_FALSE(folder->create("a", "two", true)) << "the answer was lost that the name is taken";
  EXPECT_EQ(disk->names(), (Names{"a", "empty"}));
  EXPECT_EQ(read(*folder, "a"), "one");
  disk->faults(process)->at("create.write", 1, {Fault::Kind::die_after, Code::internal});
  EXPECT_FALSE(folder->create("b", "x", true));
  EXPECT_EQ(disk->bytes("b"), "x") << "a dead process tidied up";
}

TEST_F(FakeFoldersTest, ALinkIsTheWholeFileUnderOneMoreName) {
  const auto in = made(*folder, "in");
  ASSERT_TRUE(*in->create("a", "content", true));
  ASSERT_TRUE(*in->link("a", *folder, "b"));
  EXPECT_EQ(folder->look("b")->identity, in->look("a")->identity);
  EXPECT_EQ(folder->read("b", 100).error().code, Code::damaged) << "one name only, unless more are allowed";
  disk->set_most_links(2);
  EXPECT_EQ(read(*folder, "b"), "content");
  EXPECT_EQ(read(*in, "a"), "content");
  EXPECT_FALSE(*in->link("a", *folder, "b")) << "taken, though by the same file";
  EXPECT_EQ(folder->link("in", *folder, "c").error().code, Code::damaged);
  EXPECT_EQ(folder->link("none", *folder, "c").error().code, Code::damaged);
  ASSERT_TRUE(*folder->link("b", *folder, "c"));
  EXPECT_EQ(in->read("a", 100).error().code, Code::damaged) << "a third name is one too many";
  EXPECT_EQ(disk->names(), (Names{"b", "c", "in"}));
  disk->set_capacity(7);
  EXPECT_TRUE(*folder->link("c", *folder, "d")) << "takes no room but that of a name";
  disk->set_max_names(5);
  EXPECT_EQ(folder->link("c", *folder, "e").error().code, Code::no_space);
  EXPECT_EQ(folder->make_folder("e").error().code, Code::no_space);
  EXPECT_EQ(*folder->move("c", *in, "c"), Moved::moved) << "needs no further name";
}

TEST_F(FakeFoldersTest, ALifeLockIsOneUnderAllNamesAndEndsWithItsProcess) {
  disk->set_most_links(3);
  const ProcessNumber holder = world->spawn();
  const auto own = disk->open(holder);
  const auto in = made(*own, "in");
  auto life = in->take_life("life", "life.new", false, false);
  ASSERT_TRUE(life);
  for (const char* name : {"one", "two"}) ASSERT_TRUE(*in->link("life", *own, name));
  ASSERT_EQ(*own->move("in", *own, "moved"), Moved::moved);
  const FileIdentity file = (*life)->identity();
  EXPECT_EQ(disk->locked(), (Names{"one", "two", "moved/life"}));
  EXPECT_EQ(folder->probe_life("one", file).sight, LifeSight::held);
  EXPECT_EQ(folder->take_life("two", "x", false, false).error().code, Code::held);
  auto outside = folder->watch();
  auto inside = (*folder->open_folder("moved")).get()->watch();
  world->kill(holder);
  EXPECT_EQ(folder->probe_life("two", file).sight, LifeSight::free);
  EXPECT_EQ(disk->locked(), Names{});
  EXPECT_EQ((*inside)->wait(kLongEnough, nullptr, -1)->names, Names{"life"}) << "by the name by which it was opened";
  EXPECT_TRUE((*outside)->wait(Duration::zero(), nullptr, -1)->names.empty());
  EXPECT_FALSE(in->create("x", "1", false)) << "a dead process went on";
  EXPECT_FALSE(in->identity());
}

TEST_F(FakeFoldersTest, MovesFilesAndFoldersAndReplacesNothing) {
  const auto in = made(*folder, "in");
  const auto out = made(*folder, "out");
  disk->place("in/a", Placed::file, "1");
  disk->place("out/a", Placed::file, "2");
  disk->place("in/full/x", Placed::file, "3");
  disk->place("out/empty", Placed::directory);
  EXPECT_EQ(*in->move("none", *out, "b"), Moved::missing);
  EXPECT_EQ(*in->move("none", *out, "a"), Moved::missing);
  EXPECT_EQ(*in->move("a", *out, "a"), Moved::taken);
  EXPECT_EQ(*in->move("full", *out, "empty"), Moved::taken);
  EXPECT_EQ(*in->move("a", *out, "b"), Moved::moved);
  EXPECT_EQ(*in->move("full", *out, "full"), Moved::moved);
  EXPECT_EQ(*in->list(10), Names{});
  EXPECT_EQ(*out->list(10), (Names{"a", "b", "empty", "full"}));
  EXPECT_EQ(disk->bytes("out/a"), "2");
  EXPECT_EQ(disk->bytes("out/full/x"), "3");
  EXPECT_EQ(folder->move("out", *out, "itself").error().code, Code::input_output);
  disk->set_read_only(true);
  EXPECT_EQ(out->move("b", *in, "b").error().code, Code::read_only);
  EXPECT_EQ(*out->move("b", *out, "a"), Moved::taken);
}

TEST_F(FakeFoldersTest, AFolderOfAnotherDiskIsForeign) {
  const auto elsewhere = FakeDisk::create(world, clock)->open(process);
  disk->place("a", Placed::file, "1");
  EXPECT_EQ(folder->move("a", *elsewhere, "a").error().code, Code::internal);
  EXPECT_EQ(folder->link("a", *elsewhere, "a").error().code, Code::internal);
}

TEST_F(FakeFoldersTest, FaultsCountFoldersInTheSameRow) {
  const auto in = made(*folder, "in");
  auto faults = disk->faults(process);
  const auto names =
      std::to_array<const char*>({"look", "open_folder", "make_folder", "remove_folder", "link", "move"});
  for (const char* name : names) faults->at(name, 1, {Fault::Kind::refuse, Code::read_only});
  EXPECT_EQ(in->look("x").error().code, Code::read_only);
  EXPECT_EQ(in->open_folder("x").error().code, Code::read_only);
  EXPECT_EQ(in->make_folder("x").error().code, Code::read_only);
  EXPECT_EQ(in->remove_folder("x").error().code, Code::read_only);
  EXPECT_EQ(in->link("x", *folder, "y").error().code, Code::read_only);
  EXPECT_EQ(in->move("x", *folder, "y").error().code, Code::read_only);
  EXPECT_EQ(faults->calls(), (Names{"make_folder", "open_folder", "look", "open_folder", "make_folder", "remove_folder",
                                    "link", "move"}));
}

// ---- what a loss of power leaves

TEST_F(FakeFoldersTest, NamesAreDurableByASyncOfTheirOwnFolder) {
  const auto in = made(*folder, "in");
  ASSERT_TRUE(*in->create("a", "1", true));
  ASSERT_TRUE(folder->sync());
  ASSERT_TRUE(*in->create("b", "2", true));
  ASSERT_TRUE(in->sync());
  ASSERT_TRUE(*in->create("c", "3", true));
  EXPECT_EQ(disk->durable_bytes("in/b"), "2");
  EXPECT_EQ(disk->durable_bytes("in/c"), std::nullopt);
  disk->lose_power();
  EXPECT_EQ(disk->names("in"), (Names{"a", "b"}));
  EXPECT_EQ(disk->bytes("in/a"), "1");
}

TEST_F(FakeFoldersTest, AFolderThatWasNotSyncedTakesWhatIsInItAlong) {
  const auto in = made(*folder, "in");
  ASSERT_TRUE(*in->create("a", "1", true));
  ASSERT_TRUE(in->sync());
  EXPECT_EQ(disk->durable_bytes("in/a"), std::nullopt);
  disk->lose_power();
  EXPECT_EQ(disk->names(), Names{});
  ASSERT_TRUE(*folder->make_folder("in"));
  EXPECT_EQ(disk->names("in"), Names{});
}

TEST_F(FakeFoldersTest, ARenamedFolderIsUnderTheOneNameOrTheOther) {
  const auto in = made(*folder, "in");
  ASSERT_TRUE(*in->create("a", "1", true));
  ASSERT_TRUE(in->sync() && folder->sync());
  ASSERT_EQ(*folder->move("in", *folder, "out"), Moved::moved);
  disk->lose_power();
  EXPECT_EQ(disk->names(), Names{"in"});
  EXPECT_EQ(disk->bytes("in/a"), "1");
  ASSERT_EQ(*folder->move("in", *folder, "out"), Moved::moved);
  ASSERT_TRUE(folder->sync());
  disk->lose_power();
  EXPECT_EQ(disk->names(), Names{"out"});
  EXPECT_EQ(disk->bytes("out/a"), "1");
}

TEST_F(FakeFoldersTest, AFolderMovedToAnotherIsLostByNoSync) {
  const auto aside = made(*folder, "aside");
  disk->place("lock/a", Placed::file, "1");
  ASSERT_TRUE(folder->sync());
  ASSERT_EQ(*folder->move("lock", *aside, "old"), Moved::moved);
  ASSERT_TRUE(folder->sync());
  disk->lose_power();
  EXPECT_EQ(disk->bytes("lock/a"), "1") << "the folder that it went to was not synced";
  EXPECT_EQ(disk->names("aside"), Names{});
  ASSERT_EQ(*folder->move("lock", *aside, "old"), Moved::moved);
  ASSERT_TRUE(aside->sync());
  disk->lose_power();
  EXPECT_EQ(disk->names(), Names{"aside"});
  EXPECT_EQ(disk->bytes("aside/old/a"), "1");
}

TEST_F(FakeFoldersTest, AFileMovedToAnotherFolderNeedsBothSyncs) {
  const auto aside = made(*folder, "aside");
  disk->place("a", Placed::file, "1");
  disk->place("b", Placed::file, "2");
  disk->set_most_links(2);
  ASSERT_TRUE(folder->sync());
  ASSERT_EQ(*folder->move("a", *aside, "a"), Moved::moved);
  ASSERT_TRUE(aside->sync());
  disk->lose_power();
  EXPECT_EQ(disk->bytes("a"), "1");
  EXPECT_EQ(disk->bytes("aside/a"), "1") << "under both names";
  ASSERT_EQ(*folder->move("b", *aside, "b"), Moved::moved);
  ASSERT_TRUE(folder->sync());
  disk->lose_power();
  EXPECT_EQ(disk->bytes("b"), std::nullopt);
  EXPECT_EQ(disk->bytes("aside/b"), std::nullopt) << "under none";
}

TEST_F(FakeFoldersTest, ARemovedFolderComesBackUnlessThatWasSynced) {
  disk->place("in/a", Placed::file, "1");
  const auto in = *folder->open_folder("in");
  ASSERT_TRUE(*in->remove("a"));
  ASSERT_TRUE(*folder->remove_folder("in"));
  disk->lose_power();
  EXPECT_EQ(disk->bytes("in/a"), "1");
  ASSERT_TRUE(*in->remove("a"));
  ASSERT_TRUE(in->sync());
  ASSERT_TRUE(*folder->remove_folder("in"));
  ASSERT_TRUE(folder->sync());
  disk->lose_power();
  EXPECT_EQ(disk->names(), Names{});
}

TEST_F(FakeFoldersTest, ALinkIsDurableByASyncOfItsFolder) {
  disk->set_most_links(2);
  ASSERT_TRUE(*folder->create("a", "1", true));
  ASSERT_TRUE(folder->sync());
  ASSERT_TRUE(*folder->link("a", *folder, "b"));
  disk->lose_power();
  EXPECT_EQ(disk->names(), Names{"a"});
  ASSERT_TRUE(*folder->link("a", *folder, "b"));
  ASSERT_TRUE(folder->sync());
  disk->lose_power();
  EXPECT_EQ(disk->bytes("b"), "1");
}

// ---- strangers, watches and races

TEST_F(FakeFoldersTest, AStrangerReachesIntoFolders) {
  disk->place("a/b/c", Placed::file, "1");
  EXPECT_EQ(disk->names(), Names{"a"});
  EXPECT_EQ(disk->durable_bytes("a/b/c"), "1");
  const auto a = *folder->open_folder("a");
  const auto b = *a->open_folder("b");
  EXPECT_EQ(read(*b, "c"), "1");
  EXPECT_EQ(b->path(), folder->path() + "/a/b");
  disk->erase("a");
  EXPECT_EQ(disk->names(), Names{});
  EXPECT_EQ(disk->bytes("a/b/c"), std::nullopt);
  EXPECT_EQ(read(*b, "c"), "nothing") << "what was in the folder went with it";
  EXPECT_FALSE(b->create("d", "1", false));
}

TEST_F(FakeFoldersTest, AWatchSeesTheNamesOfItsOwnFolder) {
  const auto in = made(*folder, "in");
  auto outside = folder->watch();
  auto inside = in->watch();
  ASSERT_TRUE(*in->create("a", "1", false));
  EXPECT_EQ((*inside)->wait(kLongEnough, nullptr, -1)->names, Names{"a"});
  EXPECT_TRUE((*outside)->wait(Duration::zero(), nullptr, -1)->names.empty());
  ASSERT_EQ(*folder->move("in", *folder, "out"), Moved::moved);
  EXPECT_EQ((*outside)->wait(kLongEnough, nullptr, -1)->names, (Names{"in", "out"}));
  EXPECT_TRUE((*inside)->wait(kLongEnough, nullptr, -1)->everything) << "it was moved itself";
  ASSERT_TRUE(*in->create("b", "1", false));
  EXPECT_EQ((*inside)->wait(kLongEnough, nullptr, -1)->names, Names{"b"});
}

TEST_F(FakeFoldersTest, OfManyThatMoveOntoOneNameOneHasIt) {
  constexpr int kMovers = 4;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < kMovers; ++i) disk->place("mine" + std::to_string(i) + "/owner", Placed::file, "x");
    std::atomic<int> moved = 0;
    std::atomic<int> taken = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kMovers; ++i) {
      threads.emplace_back([&, i] {
        const auto mine = disk->open(world->spawn());
        const auto heard = mine->move("mine" + std::to_string(i), *mine, "lock");
        if (heard && *heard == Moved::moved) ++moved;
        if (heard && *heard == Moved::taken) ++taken;
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(moved, 1);
    ASSERT_EQ(taken, kMovers - 1);
    disk->erase("lock");
  }
}

}  // namespace
}  // namespace tenure::fakes
