#include "os/linux/real_words.h"

#include <gtest/gtest.h>
#include <linux/futex.h>

#include <thread>
#include <vector>

#include "os/linux/local_test.h"
#include "os/linux/proc_files.h"

namespace tenure::os {
namespace {

using env::Watched;
using env::Word;
using Time = std::chrono::steady_clock;

// Whether a thread of ours is asleep, as /proc shows it.
bool asleep(pid_t thread) {
  const auto stat = parse_proc_stat(read_proc_file("/proc/self/task/" + std::to_string(thread) + "/stat").bytes);
  return stat && stat->state == 'S';
}

// A thread that sleeps on words, and what woke it.
class Sleeper {
 public:
  Sleeper(RealWords& words, std::vector<Watched> watched, Duration at_most)
      : thread_([this, &words, watched = std::move(watched), at_most] {
          id_.store(gettid());
          const auto start = Time::now();
          words.wait(watched, at_most);
          slept_ = Time::now() - start;
        }) {}
  bool asleep() const {
    return eventually([&] { return id_.load() != 0 && os::asleep(id_.load()); });
  }
  Duration slept() {
    thread_.join();
    return slept_;
  }

 private:
  std::atomic<pid_t> id_{0};
  Duration slept_{0};
  std::thread thread_;
};

class EachWay : public testing::TestWithParam<bool> {
 protected:
  RealWords words_ = GetParam() ? RealWords::without_many() : RealWords();
};

TEST_P(EachWay, AWakeOnTheFirstWordEndsTheSleep) {
  if (!GetParam() && !words_.many()) GTEST_SKIP() << "NOT TESTED: this kernel has no futex_waitv";
  Word first{7};
  Word second{8};
  Sleeper sleeper(words_, {{&first, 7}, {&second, 8}}, kPatience);
  ASSERT_TRUE(sleeper.asleep());
  // A bare wake ends one sleep of the fall-back as well; the value need not change.
  words_.wake(first, 1);
  EXPECT_LT(sleeper.slept(), kPatience / 2);
}

TEST_P(EachWay, AChangeOfAnyWordEndsTheSleep) {
  for (std::size_t changed = 0; changed < 3; ++changed) {
    Word words[3] = {{1}, {2}, {3}};
    Sleeper sleeper(words_, {{&words[0], 1}, {&words[1], 2}, {&words[2], 3}}, kPatience);
    ASSERT_TRUE(sleeper.asleep());
    words[changed].store(99);
    words_.wake(words[changed], 1);
    EXPECT_LT(sleeper.slept(), kPatience / 2) << changed;
  }
}

TEST_P(EachWay, AWordThatIsOtherAlreadyIsNotSleptOn) {
  Word first{1};
  Word second{2};
  const Watched watched[] = {{&first, 1}, {&second, 3}};
  const auto start = Time::now();
  words_.wait(watched, kPatience);
  words_.wait({watched + 1, 1}, kPatience);
  words_.wait({}, kPatience);
  EXPECT_LT(Time::now() - start, kPatience / 2);
}

TEST_P(EachWay, TheBoundIsKept) {
  Word first{1};
  Word second{2};
  const Watched watched[] = {{&first, 1}, {&second, 2}};
  for (const std::size_t count : {1U, 2U}) {
    const auto start = Time::now();
    words_.wait({watched, count}, std::chrono::milliseconds{30});
    const auto slept = Time::now() - start;
    EXPECT_GE(slept, std::chrono::milliseconds{30}) << count;
    EXPECT_LT(slept, kPatience / 2) << count;
    words_.wait({watched, count}, Duration::zero());
    words_.wait({watched, count}, Duration{-1});
  }
}

TEST_P(EachWay, AWordOfAFileIsWokenFromAnotherProcess) {
  const SharedWords shared;
  Word own{0};
  Child child([&](Child& self) {
    if (!self.told()) return 1;
    shared.set(0);
    return 0;
  });
  // The first word is private to this process, the second shared: both in one sleep.
  Sleeper sleeper(words_, {{&own, 0}, {&shared[0], 0}}, kPatience);
  ASSERT_TRUE(sleeper.asleep());
  child.tell();
  EXPECT_LT(sleeper.slept(), kPatience / 2);
  EXPECT_EQ(child.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Words, EachWay, testing::Values(false, true),
                         [](const auto& param) { return param.param ? "lookingNowAndThen" : "sleepingOnAll"; });

TEST(Words, AWakeIsDirectedToAsManyAsWereMeant) {
  RealWords words;
  Word word{0};
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  for (int i = 0; i < 3; ++i) {
    sleepers.push_back(std::make_unique<Sleeper>(words, std::vector<Watched>{{&word, 0}}, kPatience));
    ASSERT_TRUE(sleepers.back()->asleep());
  }
  word.store(1);
  words.wake(word, 2);
  // Exactly one is left, and is there to be woken: the system tells how many it woke.
  EXPECT_TRUE(eventually([&] { return syscall(SYS_futex, &word, FUTEX_WAKE, 10, nullptr, nullptr, 0) == 1; }));
  for (const auto& sleeper : sleepers) EXPECT_LT(sleeper->slept(), kPatience / 2);
}

TEST(Words, WhereAFilterRefusesManyItLooksNowAndThen) {
  Child child([](Child&) {
    RealWords before;
    if (!before.many()) return 77;
    if (!forbid(SYS_futex_waitv, 0, EPERM)) return 2;
    if (RealWords().many()) return 3;
    // One that was made before the filter learns it at its first sleep.
    Word first{1};
    Word second{2};
    const Watched watched[] = {{&first, 1}, {&second, 2}};
    std::thread changer([&] { second.store(3); });
    before.wait(watched, kPatience);
    changer.join();
    return before.many() ? 4 : 0;
  });
  const int code = child.wait();
  if (code == 77) GTEST_SKIP() << "NOT TESTED: this kernel has no futex_waitv";
  EXPECT_EQ(code, 0);
}

TEST(Words, AWakeThatFailsLeavesErrnoAlone) {
  RealWords words;
  void* const gone = mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  munmap(gone, 4096);
  errno = 4711;
  words.wake(*static_cast<const Word*>(gone), 1);
  EXPECT_EQ(errno, 4711);
}

}  // namespace
}  // namespace tenure::os
