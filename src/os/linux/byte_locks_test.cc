// Bytes that stand for members: held exactly as long as an address space, or as a descriptor that was passed on.
#include "os/linux/byte_locks.h"

#include <gtest/gtest.h>

#include "os/linux/local_test.h"
#include "os/linux/proc_files.h"

namespace tenure::os {
namespace {

using Sight = env::LocalFolder::ByteSight;

constexpr std::uint64_t kByte = 7;
enum : std::size_t { kReady, kGo, kReady2, kGo2 };

class Bytes : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = enter_local(scratch_.path());
    ASSERT_TRUE(folder_);
  }
  std::unique_ptr<RealLocalFolder> enter() const { return enter_local(scratch_.path()); }
  Sight sight(std::uint64_t byte = kByte) const { return folder_->probe_byte(byte); }
  bool comes_free(std::uint64_t byte = kByte) const {
    return eventually([&] { return sight(byte) == Sight::free; });
  }

  const Scratch scratch_;
  const SharedWords words_;
  std::unique_ptr<RealLocalFolder> folder_;
};

TEST_F(Bytes, EachIsTakenByOneAndDroppedAlone) {
  EXPECT_EQ(sight(), Sight::free);
  const auto other = enter();
  ASSERT_TRUE(other->take_byte(kByte).value());
  ASSERT_TRUE(other->take_byte(kByte + 1).value());
  EXPECT_FALSE(folder_->take_byte(kByte).value());
  EXPECT_EQ(sight(), Sight::held);
  EXPECT_EQ(sight(kByte + 1), Sight::held);
  EXPECT_EQ(sight(kByte - 1), Sight::free);
  other->drop_byte(kByte);
  EXPECT_EQ(sight(), Sight::free);
  EXPECT_EQ(sight(kByte + 1), Sight::held) << "it was taken through a description of its own";
  EXPECT_TRUE(folder_->take_byte(kByte).value());
  other->drop_byte(kByte);
  EXPECT_EQ(other->probe_byte(kByte), Sight::held);
}

TEST_F(Bytes, NoneIsTakenByAProbe) {
  const auto other = enter();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(other->probe_byte(kByte), Sight::free);
  EXPECT_TRUE(folder_->take_byte(kByte).value());
}

TEST_F(Bytes, LeaveNoDescriptorBehind) {
  const int before = descriptors_of(gettid(), scratch_.at("lock")).all;
  ASSERT_TRUE(folder_->take_byte(kByte).value());
  EXPECT_EQ(sight(kByte + 1), Sight::free);
  EXPECT_EQ(descriptors_of(gettid(), scratch_.at("lock")).all, before);
}

TEST_F(Bytes, AKillFreesThem) {
  Child child([&](Child& self) {
    const auto folder = enter();
    if (!folder->take_byte(kByte).value_or(false)) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(sight(), Sight::held);
  kill(child.pid(), SIGKILL);
  EXPECT_TRUE(comes_free());
}

TEST_F(Bytes, AnExecFreesThem) {
  Child child([&](Child& self) {
    const auto folder = enter();
    if (!folder->take_byte(kByte).value_or(false)) return 1;
    int input[2];
    if (pipe(input) != 0 || dup2(input[0], STDIN_FILENO) < 0) return 2;
    self.tell();
    if (!self.told()) return 3;
    execlp("cat", "cat", nullptr);  // it has the other end itself, and reads for ever
    return 4;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(sight(), Sight::held);
  child.tell();
  EXPECT_TRUE(comes_free());
  const auto stat = parse_proc_stat(read_proc_file("/proc/" + std::to_string(child.pid()) + "/stat").bytes);
  EXPECT_TRUE(stat && stat->command == "cat" && stat->state != 'Z') << "it lives on as another program";
}

TEST_F(Bytes, AStoppedHolderKeepsThem) {
  Child child([&](Child& self) {
    const auto folder = enter();
    if (!folder->take_byte(kByte).value_or(false)) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(child.told());
  ASSERT_TRUE(child.stop());
  EXPECT_EQ(sight(), Sight::held);
}

TEST_F(Bytes, TheHostMayCloseEverything) {
  Child child([&](Child&) {
    auto folder = enter();
    mkdir(scratch_.at("b").c_str(), 0700);
    auto table = make_local_table(*enter_local(scratch_.at("b")));
    if (!folder->take_byte(kByte).value_or(false)) return 1;
    closefrom(3);
    const Decoys decoys;
    words_.set(kReady);
    if (!words_.seen(kGo)) return 2;
    // Whatever needs the folder still works.
    if (!folder->take_byte(kByte + 1).value_or(false) || folder->probe_byte(kByte + 2) != Sight::free) return 3;
    auto& directory = folder->directory();
    if (!directory.replace("small", "small.new", "text", true)) return 4;
    if (directory.read("small", 100).value_or(std::nullopt).value_or(env::FileContent{}).bytes != "text") return 5;
    {
      const auto section = directory.lock("section", kPatience, nullptr);
      if (!section || !(*section)->write("inside", false)) return 6;
    }
    if (!table->allocate(2 * kTableBytes)) return 7;
    folder->drop_byte(kByte + 1);
    if (folder->probe_byte(kByte + 1) != Sight::free) return 8;
    words_.set(kReady2);
    if (!words_.seen(kGo2)) return 9;
    folder.reset();
    table.reset();
    return decoys.untouched() ? 0 : 10;
  });
  ASSERT_TRUE(words_.seen(kReady));
  EXPECT_EQ(sight(), Sight::held);
  words_.set(kGo);
  EXPECT_TRUE(words_.seen(kReady2));
  EXPECT_EQ(sight(), Sight::held);
  words_.set(kGo2);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(sight(), Sight::free);
}

// Holds the byte, and has a child of its own, made in one way or another, that outlives it.
class NotInherited : public Bytes {
 protected:
  void expect_none(const std::function<pid_t()>& make_child) const {
    Child holder([&](Child&) {
      const auto folder = enter();
      if (!folder->take_byte(kByte).value_or(false)) return 1;
      if (make_child() == 0) {
        words_.set(kReady);
        // Longer than the test waits for the byte.
        _exit(words_.seen(kGo) || words_.seen(kGo) ? 0 : 1);
      }
      return words_.seen(kGo) ? 0 : 2;
    });
    ASSERT_TRUE(words_.seen(kReady));
    EXPECT_EQ(sight(), Sight::held);
    kill(holder.pid(), SIGKILL);
    ASSERT_TRUE(holder.ended());
    EXPECT_TRUE(comes_free()) << "its child keeps the byte";
    words_.set(kGo);
  }
};

TEST_F(NotInherited, ByAForkedChild) {
  expect_none([] { return fork(); });
}

TEST_F(NotInherited, ByARawClone) {
  expect_none([] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)); });
}

TEST_F(Bytes, AForkedChildThatDestroysItsCopyFreesNothing) {
  auto holder = enter();
  ASSERT_TRUE(holder->take_byte(kByte).value());
  auto passed = holder->pass_byte(kByte + 1);
  ASSERT_TRUE(passed);
  mkdir(scratch_.at("b").c_str(), 0700);
  auto table = make_local_table(*enter_local(scratch_.at("b")));
  word_of(*table, 0).store(4711);
  Child child([&](Child&) {
    passed->reset();
    table.reset();
    holder.reset();
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(sight(), Sight::held);
  EXPECT_EQ(sight(kByte + 1), Sight::held);
  EXPECT_FALSE(folder_->enter_alone().value()) << "the holder is still in";
  EXPECT_EQ(word_of(*table, 0).load(), 4711U);
}

// It shares the memory, which lives as long as either: rightly, so does the lock.
TEST_F(Bytes, AVforkChildKeepsTheMemoryAndTheByte) {
  TENURE_NOT_UNDER_TSAN("vfork(2)");
  Child holder([&](Child&) {
    const auto folder = enter();
    if (!folder->take_byte(kByte).value_or(false)) return 1;
    const pid_t child = vfork();
    if (child == 0) {
      words_.set(kReady);
      _exit(words_.seen(kGo) ? 0 : 1);
    }
    return words_.seen(kGo2) ? 0 : 2;
  });
  ASSERT_TRUE(words_.seen(kReady));
  kill(holder.pid(), SIGKILL);
  ASSERT_TRUE(holder.ended());
  EXPECT_EQ(sight(), Sight::held);
  words_.set(kGo);
  EXPECT_TRUE(comes_free());
}

// A holder that passes the byte to a child: fork copies the descriptor.
class Passed : public Bytes {
 protected:
  static constexpr std::size_t kChildGo = 10;
  static constexpr std::size_t kHolderGo = 11;
  static constexpr std::size_t kChildOver = 12;

  int hold_and_pass() const {
    const auto folder = enter();
    auto passed = folder->pass_byte(kByte);
    if (!passed || fcntl((*passed)->descriptor(), F_GETFD) != FD_CLOEXEC) return 1;
    const pid_t child = fork();
    if (child == 0) {
      // An inherited object is of no use here but for its descriptor, which stays until it is closed.
      const int kept = fcntl((*passed)->descriptor(), F_DUPFD_CLOEXEC, 0);
      passed->reset();
      words_.set(kReady);
      _exit(kept >= 0 && words_.seen(kChildGo) ? 0 : 1);
    }
    int status = 0;
    if (words_[kChildOver].load() != 0 || waitpid(child, &status, 0) != child || status != 0) return 2;
    words_.set(kChildOver);
    if (!words_.seen(kHolderGo)) return 3;
    passed->reset();
    words_.set(kReady2);
    return words_.seen(kGo2) ? 0 : 4;
  }
};

TEST_F(Passed, TheByteOutlivesTheHolderWithTheChild) {
  Child holder([&](Child&) { return hold_and_pass(); });
  ASSERT_TRUE(words_.seen(kReady));
  EXPECT_EQ(sight(), Sight::held);
  kill(holder.pid(), SIGKILL);
  ASSERT_TRUE(holder.ended());
  EXPECT_EQ(sight(), Sight::held);
  words_.set(kChildGo);
  EXPECT_TRUE(comes_free());
}

TEST_F(Passed, AndTheChildWithTheHolder) {
  Child holder([&](Child&) { return hold_and_pass(); });
  ASSERT_TRUE(words_.seen(kReady));
  words_.set(kChildGo);
  ASSERT_TRUE(words_.seen(kChildOver));
  EXPECT_EQ(sight(), Sight::held);
  words_.set(kHolderGo);
  ASSERT_TRUE(words_.seen(kReady2));
  EXPECT_EQ(sight(), Sight::free) << "the holder lives, but let it go";
  words_.set(kGo2);
  EXPECT_EQ(holder.wait(), 0);
}

TEST_F(Passed, AByteThatIsTakenIsNotPassed) {
  const auto other = enter();
  ASSERT_TRUE(other->take_byte(kByte).value());
  EXPECT_EQ(folder_->pass_byte(kByte).error().code, Code::held);
}

TEST_F(Passed, ADescriptorThatTheHostClosedIsNotClosedAgain) {
  Child child([&](Child&) {
    const auto folder = enter();
    auto first = folder->pass_byte(kByte);
    const int number = (*first)->descriptor();
    close(number);
    // The same file under the same number, for another byte.
    auto second = folder->pass_byte(kByte + 1);
    if (!second || (*second)->descriptor() != number) return 1;
    if (folder->probe_byte(kByte) != Sight::held) return 2;
    first->reset();
    if (folder->probe_byte(kByte) != Sight::free) return 3;
    return fcntl(number, F_GETFD) == FD_CLOEXEC && folder->probe_byte(kByte + 1) == Sight::held ? 0 : 4;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(Bytes, NothingIsSaidOfAnotherLockFile) {
  ASSERT_EQ(unlink(scratch_.at("lock").c_str()), 0);
  EXPECT_EQ(sight(), Sight::unreadable);
  EXPECT_EQ(folder_->take_byte(kByte).error().code, Code::damaged);
  const auto other = enter();
  ASSERT_TRUE(other->take_byte(kByte).value());
  EXPECT_EQ(sight(), Sight::unreadable);
}

TEST_F(Bytes, CanBeAskedByWhoeverMayRead) {
  TENURE_NEEDS_ROOT();
  ASSERT_TRUE(folder_->take_byte(kByte).value());
  chmod(scratch_.path().c_str(), 0755);
  chmod(scratch_.at("lock").c_str(), 0644);
  Child child([&](Child&) {
    if (setuid(65534) != 0) return 1;
    FolderChecks looking;
    looking.any_owner = looking.observe_only = true;
    const auto folder = open_local(scratch_.path(), looking);
    return folder->probe_byte(kByte) == Sight::held && folder->probe_byte(kByte + 1) == Sight::free ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace tenure::os
