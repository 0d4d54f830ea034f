#include "os/linux/section_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/time.h>

#include <atomic>
#include <thread>

#include "os/linux/proc_files.h"
#include "os/linux/scratch_test.h"

namespace tenure::os {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Duration kPatience = std::chrono::milliseconds{kPatienceMs};

// How many descriptors of this process lead to a path, a removed file included.
int descriptors_on(const std::string& path) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (read_proc_link(entry.path()).starts_with(path)) ++count;
  }
  return count;
}

TEST(SectionLock, TheFirstOneMakesTheFileAndItStays) {
  Scratch scratch;
  const auto folder = scratch.open();
  {
    const auto first = folder->lock("x.lock", 0s, nullptr);
    ASSERT_TRUE(first);
    EXPECT_TRUE((*first)->created());
    EXPECT_EQ(folder->lock("x.lock", 0s, nullptr).error().code, Code::section_busy);
  }
  const auto second = folder->lock("x.lock", 0s, nullptr);
  ASSERT_TRUE(second);
  EXPECT_FALSE((*second)->created());
  EXPECT_EQ(scratch.count(), 1U);
}

TEST(SectionLock, KeepsOutAPlainFlockAndIsKeptOutByOne) {
  Scratch scratch;
  scratch.put("x.lock", "");
  const auto folder = scratch.open();
  const Fd other(open(scratch.at("x.lock").c_str(), O_WRONLY | O_CLOEXEC));
  {
    const auto lock = folder->lock("x.lock", 0s, nullptr);
    ASSERT_TRUE(lock);
    EXPECT_NE(flock(other.get(), LOCK_EX | LOCK_NB), 0);
  }
  EXPECT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(folder->lock("x.lock", 0s, nullptr).error().code, Code::section_busy);
}

TEST(SectionLock, ItsContentIsRewrittenInPlace) {
  Scratch scratch;
  const auto folder = scratch.open();
  const auto lock = folder->lock("x.lock", 0s, nullptr);
  ASSERT_TRUE(lock);
  EXPECT_EQ(*(*lock)->read(), "");
  ASSERT_TRUE((*lock)->write("note 12345\n", true));
  ASSERT_TRUE((*lock)->write("note 1\n", false));
  EXPECT_EQ(*(*lock)->read(), "note 1    \n");
  EXPECT_EQ((*lock)->write(std::string(4097, 'x'), false).error().code, Code::internal);
  scratch.put("x.lock", std::string(4097, 'x'));
  EXPECT_EQ((*lock)->read().error().code, Code::damaged);
}

TEST(SectionLock, SixtyFourThreadsAreInsideOneAtATime) {
  Scratch scratch;
  const auto folder = scratch.open();
  std::atomic<int> inside = 0;
  std::atomic<int> created = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      const auto lock = folder->lock("x.lock", kPatience, nullptr);
      ASSERT_TRUE(lock) << lock.error().message;
      EXPECT_EQ(++inside, 1);
      if ((*lock)->created()) ++created;
      sched_yield();
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(created, 1);
  EXPECT_EQ(scratch.count(), 1U);
}

TEST(SectionLock, M11_AFileRemovedWhileAnotherWaitsKeepsNobodyOut) {
  Scratch scratch;
  scratch.put("x.lock", "");
  const auto folder = scratch.open();
  auto first = folder->lock("x.lock", 0s, nullptr);
  ASSERT_TRUE(first);
  Result<std::unique_ptr<env::SectionLock>> second = fail(Code::internal, "not yet");
  std::thread waiter([&] { second = folder->lock("x.lock", kPatience, nullptr); });
  EXPECT_TRUE(eventually([&] { return descriptors_on(scratch.at("x.lock")) == 2; })) << "the waiter has it open";
  EXPECT_EQ(unlink(scratch.at("x.lock").c_str()), 0);
  first->reset();
  waiter.join();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(scratch.has("x.lock"));
  EXPECT_EQ(folder->lock("x.lock", 0s, nullptr).error().code, Code::section_busy) << "the lock is on the name's file";
}

TEST(SectionLock, L2_ABusySectionNamesTheStoppedProcessInside) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child& self) {
    const auto lock = folder->lock("x.lock", 0s, nullptr);
    if (!lock) return 1;
    self.tell();
    return self.told() ? 0 : 2;
  });
  ASSERT_TRUE(child.told());
  const std::string number = std::to_string(child.pid());
  auto busy = folder->lock("x.lock", 1ms, nullptr);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Code::section_busy);
  EXPECT_THAT(busy.error().message, HasSubstr("pid " + number + " ("));
  EXPECT_THAT(busy.error().message, testing::Not(HasSubstr("stopped")));
  ASSERT_TRUE(child.stop());
  busy = folder->lock("x.lock", 20ms, nullptr);
  ASSERT_FALSE(busy);
  EXPECT_THAT(busy.error().message, HasSubstr("pid " + number + " ("));
  EXPECT_THAT(busy.error().message, HasSubstr("is stopped"));
  EXPECT_THAT(busy.error().message, HasSubstr("within 20 ms"));
  EXPECT_EQ(busy.error().remedy, "continue it: kill -CONT " + number);
}

TEST(SectionLock, IsFreeWhenTheProcessInsideIsKilled) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child& self) {
    const auto lock = folder->lock("x.lock", 0s, nullptr);
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  kill(child.pid(), SIGKILL);
  EXPECT_TRUE(folder->lock("x.lock", kPatience, nullptr));
}

TEST(SectionLock, M18_AForkedChildNeitherKeepsItNorOpensIt) {
  Scratch scratch;
  const auto folder = scratch.open();
  auto lock = folder->lock("x.lock", 0s, nullptr);
  ASSERT_TRUE(lock);
  Child child([&](Child& self) {
    lock->reset();  // the copy of a handle goes away in the child
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(child.told());
  EXPECT_EQ(folder->lock("x.lock", 0s, nullptr).error().code, Code::section_busy);
  Child other([&](Child& self) {
    self.tell();
    return self.told() ? 0 : 1;
  });
  ASSERT_TRUE(other.told());
  lock->reset();
  EXPECT_TRUE(folder->lock("x.lock", 0s, nullptr)) << "a child with a copy of the descriptor does not keep it";
}

TEST(SectionLock, AStopEndsTheWait) {
  Scratch scratch;
  const auto folder = scratch.open();
  const auto stop = Stop::create();
  const auto held = folder->lock("x.lock", 0s, nullptr);
  Result<std::unique_ptr<env::SectionLock>> waited = fail(Code::internal, "not yet");
  std::thread waiter([&] { waited = folder->lock("x.lock", std::chrono::hours{1}, &*stop); });
  stop->request();
  waiter.join();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Code::section_busy);
  EXPECT_THAT(waited.error().message, HasSubstr("given up"));
}

TEST(SectionLock, L14_SignalsDoNotDisturbTheWait) {
  Scratch scratch;
  const auto folder = scratch.open();
  const auto held = folder->lock("x.lock", 0s, nullptr);
  Child child([&](Child&) {
    struct sigaction action{};  // without SA_RESTART
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
    const auto start = std::chrono::steady_clock::now();
    const auto busy = folder->lock("x.lock", 50ms, nullptr);
    if (busy || busy.error().code != Code::section_busy) return 1;
    return std::chrono::steady_clock::now() - start >= 50ms ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
}

// ---- file systems without unnamed files

TEST(SectionLock, WithoutUnnamedFilesItIsMadeUnderAnotherName) {
  Scratch scratch;
  scratch.put("old.lock.new", "");  // left by a maker that died before its link
  scratch.put("half.lock", "");
  ASSERT_EQ(link(scratch.at("half.lock").c_str(), scratch.at("half.lock.new").c_str()), 0);  // one that died after it
  const auto folder = scratch.open();
  Child child([&](Child&) {
    if (!forbid(SYS_openat, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP)) return 1;
    const auto fresh = folder->lock("x.lock", 0s, nullptr);
    if (!fresh || !(*fresh)->created()) return 2;
    if (folder->lock("x.lock", 0s, nullptr).error().code != Code::section_busy) return 3;
    const auto old = folder->lock("old.lock", 0s, nullptr);
    if (!old || !(*old)->created()) return 4;
    const auto half = folder->lock("half.lock", 0s, nullptr);
    return half && !(*half)->created() ? 0 : 5;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(scratch.count(), 3U) << "no other name is left";
}

TEST(SectionLock, WithoutUnnamedFilesOneOfManyMakesIt) {
  Scratch scratch;
  const auto folder = scratch.open();
  Child child([&](Child&) {
    if (!forbid(SYS_openat, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP)) return 90;
    std::atomic<int> inside = 0;
    std::atomic<int> created = 0;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        const auto lock = folder->lock("x.lock", kPatience, nullptr);
        if (!lock || ++inside != 1) ++wrong;
        if (lock && (*lock)->created()) ++created;
        sched_yield();
        --inside;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return wrong == 0 && created == 1 ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(scratch.count(), 1U);
}

}  // namespace
}  // namespace tenure::os
