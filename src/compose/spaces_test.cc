#include "compose/spaces.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compose/real_environment.h"
#include "engine/files/files_engine.h"
#include "os/linux/folder_moves.h"
#include "os/linux/real_directory.h"
#include "tenure/space.h"

namespace tenure::compose {
namespace {

namespace fs = std::filesystem;

class Spaces : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "spaces-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    home_ = name;
    setenv("TENURE_HOME", home_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TENURE_HOME");
    fs::remove_all(home_);
  }

  std::string path(const std::string& name) const { return home_ + "/spaces/" + name; }
  std::string url(const std::string& name) const { return "files:" + path(name); }

  static std::shared_ptr<Engine> open(const std::string& folder, bool create = false) {
    auto directory = os::RealDirectory::open(folder + "/leases", create);
    if (!directory) return nullptr;
    return open_files(std::move(*directory), real_environment(), {});
  }
  static Result<Grant> claim(Engine& engine, const std::string& key) {
    ClaimRequest request{*Key::parse(key), "alice", "one", {}, {}, {}, {}, {}, {}, {}, false};
    return engine.try_claim(request);
  }
  static ClaimRef ref(const Grant& grant) { return {grant.key, grant.claim, grant.epoch}; }

  // A purge or move that is killed while the space is withdrawn.
  static void withdraw_and_die(const std::string& folder) {
    const pid_t child = fork();
    if (child == 0) {
      auto withdrawn = os::Withdrawn::take(folder, "leases");
      _exit(withdrawn ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  // A claim by a process that dies with it.
  void leave_dead_claim(const std::string& name, const std::string& key) {
    const pid_t child = fork();
    if (child == 0) {
      auto engine = open(path(name));
      _exit(engine && claim(*engine, key) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  std::string home_;
};

TEST_F(Spaces, InitMakesAPrivateFolderOnce) {
  auto made = init_space(url("one"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->was_there);
  struct stat status{};
  ASSERT_EQ(stat((path("one") + "/leases").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700U);
  auto again = init_space(url("one"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_there);
  EXPECT_EQ(again->space.path, path("one"));
}

TEST_F(Spaces, InitOfAGroupSpaceLetsTheGroupIn) {
  ASSERT_TRUE(init_space(url("team") + "?group=yes"));
  struct stat status{};
  ASSERT_EQ(stat((path("team") + "/leases").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 02770U);
}

TEST_F(Spaces, ALocalSpaceIsMadeFilledAndPurged) {
  auto made = init_space("local:one", {.keys = 1000, .members = 10});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->space.url, "local:one");
  EXPECT_EQ(made->space.path, home_ + "/local/one");
  ASSERT_TRUE(made->space.inside);
  EXPECT_EQ(made->space.inside->limits.cells, 1024U);
  EXPECT_EQ(made->space.inside->limits.members, 10U);
  EXPECT_TRUE(made->space.inside->members.empty());
  // What is not said stays as it was wanted.
  ASSERT_TRUE(init_space("local:one", {.keys = 64}));
  EXPECT_EQ(init_space("local:one")->space.inside->limits.members, 10U);
  {
    auto space = Space::open("local:one");
    ASSERT_TRUE(space) << space.error().message;
    auto lease = space->claim(*Key::parse("k"));
    ASSERT_TRUE(lease) << lease.error().message;
    for (const Error& error : {purge_space("local:one", true).error(), move_space("local:one", home_ + "/x").error(),
                               init_space("local:one", {.keys = 500}).error()}) {
      EXPECT_EQ(error.code, Code::holder_live) << error.message;
      EXPECT_NE(error.message.find(std::to_string(getpid())), std::string::npos) << error.message;
    }
    EXPECT_TRUE(lease->verify());
  }
  auto moved = move_space("local:one", home_ + "/moved");
  ASSERT_TRUE(moved) << moved.error().message;
  auto purged = purge_space(moved->url, false);
  ASSERT_TRUE(purged) << purged.error().message;
  EXPECT_TRUE(purged->folder_removed);
  EXPECT_EQ(purge_space(moved->url, false).error().code, Code::unreachable);
}

TEST_F(Spaces, MemoryIsRefusedByName) {
  for (const auto code : {list_spaces("memory:").error().code, init_space("memory:").error().code,
                          move_space("memory:", "/x").error().code, purge_space("memory:", false).error().code}) {
    EXPECT_EQ(code, Code::unsupported);
  }
}

TEST_F(Spaces, ListCountsLiveDeadAndDamagedKeys) {
  ASSERT_TRUE(init_space(url("one")));
  ASSERT_TRUE(init_space("local:"));
  auto engine = open(path("one"));
  ASSERT_TRUE(claim(*engine, "mine"));
  leave_dead_claim("one", "gone");
  std::ofstream(path("one") + "/leases/broken.lease.json") << "{";
  chmod((path("one") + "/leases/broken.lease.json").c_str(), 0600);

  auto list = list_spaces("");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->state_folder, home_);
  ASSERT_EQ(list->spaces.size(), 2U);
  EXPECT_EQ(list->spaces[0].name, "default");
  EXPECT_TRUE(list->spaces[0].is_default);
  EXPECT_TRUE(list->spaces[0].is_chosen);
  const SpaceInfo& one = list->spaces[1];
  EXPECT_FALSE(one.error) << one.error->message;
  EXPECT_EQ(one.held, 1U);
  EXPECT_EQ(one.dead, 1U);
  EXPECT_EQ(one.damaged, 1U);
  EXPECT_FALSE(one.is_default);
  EXPECT_FALSE(one.file_system.empty());
  EXPECT_GT(one.files, 3U);
}

TEST_F(Spaces, OneFolderIsListedOnceHoweverItIsSpelt) {
  setenv("TENURE_HOME", (home_ + "//").c_str(), 1);
  ASSERT_TRUE(init_space("local:"));
  auto list = list_spaces("local:" + home_ + "/local/./default/");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->spaces.size(), 1U);
  EXPECT_TRUE(list->spaces[0].is_default);
  EXPECT_TRUE(list->spaces[0].is_chosen);
}

TEST_F(Spaces, ListShowsTheChosenSpaceElsewhereAndNotYetMade) {
  auto list = list_spaces("files:" + home_ + "/elsewhere");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->spaces.size(), 1U);
  EXPECT_TRUE(list->spaces[0].is_chosen);
  EXPECT_FALSE(list->spaces[0].exists);
  EXPECT_FALSE(fs::exists(home_ + "/elsewhere"));
}

TEST_F(Spaces, PurgeAndMoveNameTheLivingHolderAndChangeNothing) {
  ASSERT_TRUE(init_space(url("one")));
  auto engine = open(path("one"));
  auto grant = claim(*engine, "deploy");
  ASSERT_TRUE(grant);
  auto moved = move_space(url("one"), path("two"));
  ASSERT_FALSE(moved);
  for (const bool force : {false, true}) {
    auto purged = purge_space(url("one"), force);
    ASSERT_FALSE(purged);
    EXPECT_EQ(purged.error().code, Code::holder_live);
    EXPECT_NE(purged.error().message.find("deploy by alice"), std::string::npos) << purged.error().message;
    ASSERT_TRUE(purged.error().holder);
  }
  EXPECT_EQ(moved.error().code, Code::holder_live);
  EXPECT_TRUE(engine->verify(ref(*grant)));
  EXPECT_FALSE(fs::exists(path("one") + "/.leases.withdrawn"));
}

// A cleaner took the record; the lock still shows the holder.
TEST_F(Spaces, PurgeSeesAHolderWithoutARecord) {
  ASSERT_TRUE(init_space(url("one")));
  auto engine = open(path("one"));
  ASSERT_TRUE(claim(*engine, "deploy"));
  fs::remove(path("one") + "/leases/deploy.lease.json");
  auto purged = purge_space(url("one"), true);
  ASSERT_FALSE(purged);
  EXPECT_EQ(purged.error().code, Code::holder_live);
}

TEST_F(Spaces, OnlyForcePurgesADamagedRecord) {
  ASSERT_TRUE(init_space(url("one")));
  std::ofstream(path("one") + "/leases/broken.lease.json") << "{";
  chmod((path("one") + "/leases/broken.lease.json").c_str(), 0600);
  auto refused = purge_space(url("one"), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::holder_live);
  auto purged = purge_space(url("one"), true);
  ASSERT_TRUE(purged) << purged.error().message;
  EXPECT_TRUE(purged->folder_removed);
}

TEST_F(Spaces, PurgeRemovesTheDeadAndTheFolders) {
  ASSERT_TRUE(init_space(url("one")));
  leave_dead_claim("one", "gone");
  fs::create_directory(path("one") + "/.tenure-probe-1-abcdef");
  auto purged = purge_space(url("one"), false);
  ASSERT_TRUE(purged) << purged.error().message;
  EXPECT_GE(purged->removed, 4U);
  EXPECT_TRUE(purged->folder_removed);
  EXPECT_FALSE(fs::exists(path("one")));
  auto again = purge_space(url("one"), false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::unreachable);
}

TEST_F(Spaces, PurgeLeavesForeignFilesAndNamesThem) {
  ASSERT_TRUE(init_space(url("one")));
  leave_dead_claim("one", "gone");
  std::ofstream(path("one") + "/leases/notes.txt") << "mine";
  std::ofstream(path("one") + "/agentmux.toml") << "mine";
  auto purged = purge_space(url("one"), false);
  ASSERT_TRUE(purged) << purged.error().message;
  EXPECT_FALSE(purged->folder_removed);
  EXPECT_EQ(purged->left, (std::vector<std::string>{"agentmux.toml", "leases/notes.txt"}));
  EXPECT_TRUE(fs::exists(path("one") + "/leases/notes.txt"));
  EXPECT_FALSE(fs::exists(path("one") + "/leases/gone.lease.json"));
  EXPECT_FALSE(os::Withdrawn::left_behind(path("one"), "leases"));
}

TEST_F(Spaces, MoveKeepsEpochsAndFencesWhoHadItOpen) {
  ASSERT_TRUE(init_space(url("one")));
  auto before = open(path("one"));
  auto first = claim(*before, "deploy");
  ASSERT_TRUE(first);
  ASSERT_TRUE(before->release(ref(*first)));
  auto moved = move_space(url("one"), path("two"));
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->url, url("two"));
  EXPECT_FALSE(fs::exists(path("one")));
  EXPECT_FALSE(claim(*before, "deploy"));
  auto after = open(path("two"));
  auto second = claim(*after, "deploy");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_GT(second->epoch, first->epoch);
}

TEST_F(Spaces, MoveIsRefusedWhereItCannotBeDone) {
  ASSERT_TRUE(init_space(url("one")));
  ASSERT_TRUE(init_space(url("two")));
  EXPECT_EQ(move_space(url("one"), path("two")).error().code, Code::not_permitted);
  EXPECT_EQ(move_space(url("one"), home_ + "/missing/one").error().code, Code::unreachable);
  EXPECT_EQ(move_space(url("one"), path("one") + "/inner").error().code, Code::usage);
  EXPECT_EQ(move_space(url("none"), path("three")).error().code, Code::unreachable);
  fs::create_directory_symlink(path("one"), path("link"));
  EXPECT_EQ(move_space(url("link"), path("three")).error().code, Code::unsafe_folder);
  struct stat here{};
  struct stat shm{};
  if (stat("/dev/shm", &shm) == 0 && stat(home_.c_str(), &here) == 0 && shm.st_dev != here.st_dev) {
    auto crossed = move_space(url("one"), "/dev/shm/tenure-spaces-test-" + std::to_string(getpid()));
    ASSERT_FALSE(crossed);
    EXPECT_EQ(crossed.error().code, Code::unsupported);
    EXPECT_NE(crossed.error().remedy.find("cp -a"), std::string::npos);
  }
  EXPECT_TRUE(open(path("one")));
}

TEST_F(Spaces, AnInterruptedPurgeIsShownRefusesClaimsAndCanBePutBack) {
  ASSERT_TRUE(init_space(url("one")));
  leave_dead_claim("one", "gone");
  withdraw_and_die(path("one"));
  auto list = list_spaces(url("one"));
  ASSERT_TRUE(list);
  ASSERT_EQ(list->spaces.size(), 1U);
  EXPECT_TRUE(list->spaces[0].interrupted);
  EXPECT_EQ(list->spaces[0].dead, 1U);
  EXPECT_FALSE(open(path("one"), true));
  auto back = init_space(url("one"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(back->put_back);
  EXPECT_TRUE(back->was_there);
  EXPECT_EQ(back->space.dead, 1U);
  EXPECT_FALSE(back->space.interrupted);
}

TEST_F(Spaces, AnInterruptedPurgeIsFinishedByPurge) {
  ASSERT_TRUE(init_space(url("one")));
  leave_dead_claim("one", "gone");
  withdraw_and_die(path("one"));
  auto purged = purge_space(url("one"), false);
  ASSERT_TRUE(purged) << purged.error().message;
  EXPECT_TRUE(purged->folder_removed);
  EXPECT_EQ(purged->notes.size(), 1U);
  EXPECT_FALSE(fs::exists(path("one")));
}

// The look that counts is the one after the folder was withdrawn.
TEST_F(Spaces, AHolderFoundInAWithdrawnSpaceGetsItBack) {
  ASSERT_TRUE(init_space(url("one")));
  auto engine = open(path("one"));
  auto grant = claim(*engine, "deploy");
  ASSERT_TRUE(grant);
  withdraw_and_die(path("one"));
  auto purged = purge_space(url("one"), true);
  ASSERT_FALSE(purged);
  EXPECT_EQ(purged.error().code, Code::holder_live);
  EXPECT_FALSE(os::Withdrawn::left_behind(path("one"), "leases"));
  EXPECT_TRUE(engine->verify(ref(*grant)));
  EXPECT_TRUE(engine->release(ref(*grant)));
}

TEST_F(Spaces, WhoHadItOpenCannotClaimWhileItIsWithdrawn) {
  ASSERT_TRUE(init_space(url("one")));
  auto engine = open(path("one"));
  {
    auto withdrawn = os::Withdrawn::take(path("one"), "leases");
    ASSERT_TRUE(withdrawn);
    EXPECT_EQ(claim(*engine, "deploy").error().code, Code::unreachable);
    EXPECT_FALSE(fs::exists(withdrawn->path() + "/deploy.lease.json"));
  }
  EXPECT_TRUE(claim(*engine, "deploy"));  // put back by its destruction
}

TEST_F(Spaces, OfTwoPurgesOneIsRefused) {
  ASSERT_TRUE(init_space(url("one")));
  auto withdrawn = os::Withdrawn::take(path("one"), "leases");
  ASSERT_TRUE(withdrawn) << withdrawn.error().message;
  EXPECT_EQ(purge_space(url("one"), false).error().code, Code::section_busy);
  EXPECT_EQ(init_space(url("one")).error().code, Code::section_busy);
  ASSERT_TRUE(withdrawn->put_back());
  EXPECT_TRUE(purge_space(url("one"), false));
}

// Who was granted a key keeps it until its release, however often others purge; and what is purged was nobody's.
TEST_F(Spaces, PurgeNeverTakesAKeyFromWhoWasGrantedIt) {
  std::atomic<bool> enough = false;
  std::atomic<int> grants = 0;
  std::atomic<int> taken = 0;
  std::atomic<int> tries = 0;
  std::thread claimant([&] {
    while (!enough) {
      auto engine = open(path("one"), true);
      auto grant = engine ? claim(*engine, "deploy") : Result<Grant>(fail(Code::unreachable, ""));
      if (!grant) continue;
      ++grants;
      for (int look = 0; look < 5; ++look) taken += engine->verify(ref(*grant)) ? 0 : 1;
      const auto released = engine->release(ref(*grant));
      taken += released && released->released ? 0 : 1;
      // One purge finds nobody; the next one meets the next claim.
      for (const int before = tries; tries < before + 2 && !enough;) std::this_thread::yield();
    }
  });
  int purges = 0;
  for (int round = 0; round < 400000 && (purges < 30 || grants < 30); ++round) {
    purges += purge_space(url("one"), true) ? 1 : 0;
    ++tries;
    std::this_thread::yield();
  }
  enough = true;
  claimant.join();
  EXPECT_EQ(taken, 0);
  EXPECT_GE(purges, 30);
  EXPECT_GE(grants, 30);
}

}  // namespace
}  // namespace tenure::compose
