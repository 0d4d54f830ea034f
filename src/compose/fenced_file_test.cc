#include "tenure/fenced_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compose/space_identity.h"
#include "tenure/space.h"

namespace tenure {
namespace {

namespace fs = std::filesystem;

const Key kKey = *Key::parse("deploy");

// A folder with a space in it and a file to be fenced, over each engine whose epochs last.
class Fenced : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fenced-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    url_ = std::string(GetParam()) + folder_ + "/space" + (std::string(GetParam()) == "local:" ? "?volatile" : "");
    fs::create_directory(folder_ + "/d");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string place(const std::string& name) const { return folder_ + "/d/" + name; }
  std::string get(const std::string& name) const {
    std::ifstream file(place(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(place(name), std::ios::binary) << bytes;
  }
  // How many things lie beside the file, its sidecar and the lock of that.
  std::size_t strange() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ + "/d")) {
      const std::string name = entry.path().filename();
      count += name != "f" && name != ".f.fence" && name != ".f.fence.lock" ? 1 : 0;
    }
    return count;
  }
  Lease claim() const {
    auto space = Space::open(url_);
    EXPECT_TRUE(space) << (space ? "" : space.error().message);
    auto lease = space->claim(kKey, {.wait = std::chrono::seconds(30)});
    EXPECT_TRUE(lease) << (lease ? "" : lease.error().message);
    return std::move(*lease);
  }
  FencedFile file(const Key& key = kKey) const {
    auto opened = FencedFile::open(place("f"), key, url_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }
  static std::string outcome(const Result<FencedWritten>& written) {
    if (!written) return std::string(facts(written.error().code).name);
    return written->space_gone.empty() ? "by both" : "by sidecar";
  }

  std::string folder_;
  std::string url_;
};

TEST_P(Fenced, TheCurrentEpochWritesAsOftenAsItLikes) {
  Lease lease = claim();
  EXPECT_EQ(outcome(file().write(lease.epoch(), "one")), "by both");
  EXPECT_EQ(get("f"), "one");
  EXPECT_EQ(outcome(file().write(lease.epoch(), "")), "by both");
  EXPECT_EQ(get("f"), "");
  const auto fence = file().fence();
  ASSERT_TRUE(fence && *fence);
  EXPECT_EQ((*fence)->highest, lease.epoch());
  EXPECT_EQ((*fence)->key, "deploy");
  EXPECT_EQ(strange(), 0U);
}

TEST_P(Fenced, AnOverthrownHolderIsRefusedBeforeAndAfterItsSuccessorWrote) {
  Lease first = claim();
  const Epoch old = first.epoch();
  ASSERT_TRUE(file().write(old, "first"));
  ASSERT_TRUE(first.release());
  EXPECT_EQ(outcome(file().write(old, "late")), "lost");
  Lease second = claim();
  const auto before = file().write(old, "late");
  EXPECT_EQ(outcome(before), "lost");
  EXPECT_NE(before.error().message.find("by the space"), std::string::npos);
  ASSERT_TRUE(file().write(second.epoch(), "second"));
  const auto after = file().write(old, "late");
  EXPECT_EQ(outcome(after), "lost");
  EXPECT_NE(after.error().message.find("by the sidecar"), std::string::npos);
  EXPECT_EQ(get("f"), "second");
}

TEST_P(Fenced, OverthrownBetweenBeginAndPublish) {
  Lease first = claim();
  auto late = file().begin(first.epoch());
  ASSERT_TRUE(late);
  ASSERT_TRUE(late->append("late"));
  ASSERT_TRUE(first.release());
  Lease second = claim();
  ASSERT_TRUE(file().write(second.epoch(), "second"));
  EXPECT_EQ(outcome(late->publish()), "lost");
  {
    const FencedWrite gone = std::move(*late);
  }
  EXPECT_EQ(get("f"), "second");
  EXPECT_EQ(strange(), 0U);
}

TEST_P(Fenced, WhereTheSpaceIsGoneTheSidecarDecides) {
  Lease first = claim();
  const Epoch old = first.epoch();
  ASSERT_TRUE(first.release());
  Lease second = claim();
  const Epoch current = second.epoch();
  ASSERT_TRUE(file().write(current, "second"));
  ASSERT_TRUE(second.release());
  fs::rename(folder_ + "/space", folder_ + "/elsewhere");
  const auto older = file().write(old, "late");
  EXPECT_EQ(outcome(older), "lost");
  EXPECT_NE(older.error().message.find("by the sidecar"), std::string::npos);
  EXPECT_EQ(get("f"), "second");
  EXPECT_EQ(outcome(file().write(current, "again")), "by sidecar");
  EXPECT_EQ(outcome(file().write(Epoch(current.value() + 1), "next")), "by sidecar");
  EXPECT_EQ(outcome(file().write(current, "again")), "lost");
  EXPECT_EQ(get("f"), "next");
  // A file that never was fenced has nobody to vouch for an epoch.
  auto other = FencedFile::open(place("g"), kKey, url_);
  ASSERT_TRUE(other);
  EXPECT_EQ(outcome(other->write(current, "x")), "unreachable");
  EXPECT_FALSE(fs::exists(place("g")));
}

TEST_P(Fenced, AnEpochThatWasNeverGrantedPoisonsNothing) {
  Lease lease = claim();
  EXPECT_EQ(outcome(file().write(Epoch(lease.epoch().value() + 1), "x")), "lost");
  EXPECT_EQ(outcome(file().write(Epoch(0), "x")), "usage");
  EXPECT_EQ(outcome(file().write(Epoch(Epoch::kLimit), "x")), "usage");
  EXPECT_FALSE(file().fence().value());
  EXPECT_FALSE(fs::exists(place("f")));
  EXPECT_EQ(outcome(file().write(lease.epoch(), "mine")), "by both");
}

TEST_P(Fenced, ADamagedSidecarLetsNobodyInUntilItIsSetAside) {
  Lease lease = claim();
  ASSERT_TRUE(file().write(lease.epoch(), "good"));
  const std::string whole = get(".f.fence");
  for (const std::string& bytes : {std::string(), whole.substr(0, whole.size() / 2), whole + "x",
                                   std::string("tenure-fence 2 of a newer one\n"), std::string(100'000, 'x')}) {
    put(".f.fence", bytes);
    const auto refused = file().write(lease.epoch(), "x");
    EXPECT_EQ(outcome(refused), "damaged") << bytes.substr(0, 100);
    EXPECT_FALSE(refused.error().remedy.empty());
    EXPECT_FALSE(file().fence());
  }
  EXPECT_EQ(get("f"), "good");
  put(".f.fence", "");
  // The remedy, as printed.
  const std::string remedy = file().write(lease.epoch(), "x").error().remedy;
  ASSERT_EQ(system(remedy.substr(remedy.find("mv ")).c_str()), 0) << remedy;
  EXPECT_EQ(outcome(file().write(lease.epoch(), "again")), "by both");
}

TEST_P(Fenced, TwoKeysForOneFileAreAnError) {
  Lease lease = claim();
  ASSERT_TRUE(file().write(lease.epoch(), "guarded"));
  const auto refused = file(*Key::parse("other")).write(lease.epoch(), "x");
  EXPECT_EQ(outcome(refused), "usage");
  EXPECT_NE(refused.error().message.find("deploy"), std::string::npos);
  EXPECT_EQ(get("f"), "guarded");
}

TEST_P(Fenced, TheAttributeIsACacheAndMayLie) {
  const Epoch old = claim().epoch();
  Lease lease = claim();
  ASSERT_TRUE(file().write(lease.epoch(), "one"));
  const std::string path = place("f");
  char value[32] = {};
  if (getxattr(path.c_str(), "user.tenure.epoch", value, sizeof value - 1) < 0) GTEST_SKIP() << "no attributes here";
  EXPECT_EQ(value, lease.epoch().text());
  for (const std::string lie : {"9007199254740991", "1", "", "nonsense"}) {
    ASSERT_EQ(setxattr(path.c_str(), "user.tenure.epoch", lie.data(), lie.size(), 0), 0);
    EXPECT_EQ(outcome(file().write(old, "late")), "lost");
    EXPECT_EQ(outcome(file().write(lease.epoch(), "two")), "by both");
  }
}

// Holders come and go while everybody writes under whatever epoch it has: the file never goes back.
TEST_P(Fenced, AmongManyWritersTheEpochsOnlyRise) {
  constexpr int kWriters = 4;
  constexpr int kRounds = 12;
  std::atomic<std::uint64_t> wrong = 0;
  std::atomic<std::uint64_t> highest = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        Lease lease = claim();
        const Epoch mine = lease.epoch();
        if (!file().write(mine, mine.text())) ++wrong;
        highest = std::max(highest.load(), mine.value());  // only holders do this
        if (!lease.release()) ++wrong;
        // Too late, whoever has it by now.
        if (file().write(mine, mine.text())) ++wrong;
      }
    });
  }
  writers.clear();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(get("f"), std::to_string(highest.load()));
  EXPECT_EQ(file().fence().value()->highest, Epoch(highest));
  EXPECT_EQ(strange(), 0U);
}

TEST_P(Fenced, AForkedChildHasNoPartInAWrite) {
  Lease lease = claim();
  auto write = file().begin(lease.epoch());
  ASSERT_TRUE(write);
  const pid_t child = fork();
  if (child == 0) {
    const auto appended = write->append("x");
    const auto published = write->publish();
    _exit(!appended && appended.error().code == Code::wrong_process && !published ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(write->append("mine"));
  EXPECT_TRUE(write->publish());
  EXPECT_EQ(get("f"), "mine");
  EXPECT_FALSE(write->publish()) << "once only";
}

TEST_P(Fenced, FoldersAndNamesThatWillNotDo) {
  const auto code_of = [&](const std::string& path) {
    const auto opened = FencedFile::open(path, kKey, url_);
    return opened ? std::string("opened") : std::string(facts(opened.error().code).name);
  };
  EXPECT_EQ(code_of(""), "usage");
  EXPECT_EQ(code_of(place("")), "usage");
  EXPECT_EQ(code_of(place("..")), "usage");
  EXPECT_EQ(code_of(place(std::string(256, 'x'))), "usage");
  EXPECT_EQ(code_of(place(std::string("a\0b", 3))), "usage");
  EXPECT_EQ(code_of(place(".f.fence")), "usage");
  EXPECT_EQ(code_of(folder_ + "/d"), "usage");
  EXPECT_EQ(code_of(folder_ + "/none/f"), "unreachable");
  EXPECT_EQ(code_of(place(std::string(255, 'x'))), "opened");
  EXPECT_EQ(code_of(place("two words\n")), "opened");
  ASSERT_EQ(chmod((folder_ + "/d").c_str(), 0777), 0);
  EXPECT_EQ(code_of(place("f")), "unsafe_folder");
  ASSERT_EQ(chmod((folder_ + "/d").c_str(), 0770), 0);
  EXPECT_EQ(code_of(place("f")), "opened");
}

TEST_P(Fenced, InAFolderOfAGroupTheSidecarIsTheGroups) {
  ASSERT_EQ(chmod((folder_ + "/d").c_str(), 0770), 0);
  Lease lease = claim();
  ASSERT_TRUE(file().write(lease.epoch(), "x"));
  struct stat status{};
  for (const char* name : {".f.fence", ".f.fence.lock"}) {
    ASSERT_EQ(stat(place(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0660U) << name;
  }
}

TEST_P(Fenced, TheLongestAndStrangestNamesAreFencedToo) {
  const Epoch old = claim().epoch();
  Lease lease = claim();
  for (const std::string& name : {std::string(255, 'x'), std::string("two words \x1b[1m"), std::string("\xff\xfe"),
                                  std::string("~tilde"), std::string(".hidden"), std::string("-rf")}) {
    auto opened = FencedFile::open(place(name), kKey, url_);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(outcome(opened->write(lease.epoch(), "x")), "by both");
    EXPECT_EQ(outcome(opened->write(old, "y")), "lost");
    EXPECT_EQ(get(name), "x");
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Fenced, testing::Values("local:", "files:"),
                         [](const auto& chosen) { return std::string(chosen.param, 5); });

TEST(SpaceIdentity, IsTheSameForEveryUrlOfASpace) {
  const auto name = [](const char* url) { return compose::space_identity(url).value().name; };
  EXPECT_EQ(name("local:/a/b"), "local:/a/b");
  EXPECT_EQ(name("local:/a/./b//?volatile&group=yes"), "local:/a/b");
  EXPECT_EQ(name("local:/a/c/../b/"), "local:/a/b");
  EXPECT_EQ(name("files:/a/b?expiry=age"), "files:/a/b");
  EXPECT_EQ(name("files:b"), "files:" + fs::current_path().string() + "/b");
  EXPECT_NE(name("files:/a/b"), name("local:/a/b"));
  EXPECT_EQ(name("local:"), name("local:default"));
  EXPECT_EQ(name("system:x"), "system:x");
  EXPECT_EQ(compose::space_identity("local:/a/./b?volatile").value().url, "local:/a/b?volatile");
  EXPECT_EQ(compose::space_identity("memory:").error().code, Code::unsupported);
  EXPECT_EQ(compose::space_identity("nonsense").error().code, Code::bad_url);
}

}  // namespace
}  // namespace tenure
