// RealProcesses::ending: true only of what cannot come back.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <pthread.h>

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "os/linux/local_test.h"
#include "os/linux/proc_files.h"
#include "os/linux/real_processes.h"

namespace tenure::os {
namespace {

// Words that the test and its child share.
enum : std::size_t { kReady, kOver, kCount };

constexpr int kLooks = 3000;

std::uint64_t start_of(const RealProcesses& processes, pid_t pid) {
  return processes.look(pid).start_ticks;
}

// Gone, or seen to be ending: what a killed process comes to.
bool over(const RealProcesses& processes, pid_t pid, std::uint64_t start) {
  return processes.ending(pid, start) || processes.look(pid).start_ticks != start;
}

// A list of robust futexes that nobody holds. The kernel walks it at the end of a thread that has registered it, and
// the thread is seen to be exiting for the longer.
struct LongList {
  struct Entry {
    ::robust_list node;
    std::uint32_t word;
  };
  LongList() {
    ::robust_list* next = &head.list;
    for (Entry& entry : entries) entry.node.next = std::exchange(next, &entry.node);
    head.list.next = next;
    head.futex_offset = offsetof(Entry, word);
  }
  ::robust_list_head head{};
  Entry entries[2000]{};
};

// A thread that lives a little, starts the next one and ends, over and over, until the test says so.
void* link_of_chain(void* argument) {
  static LongList list;
  const auto& words = *static_cast<const SharedWords*>(argument);
  words[kCount].fetch_add(1);
  words.set(kReady);
  if (words[kOver].load() != 0) _exit(0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{30};
  while (std::chrono::steady_clock::now() < end) {
  }
  pthread_t next;
  while (pthread_create(&next, nullptr, link_of_chain, argument) != 0) sched_yield();
  pthread_detach(next);
  syscall(SYS_set_robust_list, &list.head, sizeof list.head);
  return nullptr;
}

TEST(Ending, ALivingProcessIsNot) {
  const RealProcesses processes;
  EXPECT_FALSE(processes.ending(getpid(), processes.self().identity.start_ticks));
  Child child([](Child& self) { return self.told() ? 0 : 1; });
  const std::uint64_t start = start_of(processes, child.pid());
  EXPECT_FALSE(processes.ending(child.pid(), start));
  ASSERT_TRUE(child.stop());
  EXPECT_FALSE(processes.ending(child.pid(), start));
}

TEST(Ending, AZombieIs) {
  const RealProcesses processes;
  Child child([](Child&) { return 0; });
  ASSERT_TRUE(child.ended());
  const std::uint64_t start = start_of(processes, child.pid());
  EXPECT_TRUE(processes.ending(child.pid(), start));
  EXPECT_FALSE(processes.ending(child.pid(), start + 1)) << "another process of that number";
  const pid_t pid = child.pid();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_FALSE(processes.ending(pid, start)) << "nothing is there to be read";
  EXPECT_FALSE(processes.ending(0, start));
  EXPECT_FALSE(processes.ending(-1, start));
}

TEST(Ending, AnEndedMainThreadIsNotTheEndOfTheOthers) {
  const RealProcesses processes;
  const SharedWords words;
  Child child([&](Child&) {
    std::thread([&] { _exit(words.seen(kOver) ? 0 : 1); }).detach();
    words.set(kReady);
    syscall(SYS_exit, 0);  // this thread alone
    return 2;
  });
  ASSERT_TRUE(words.seen(kReady));
  const std::uint64_t start = start_of(processes, child.pid());
  ASSERT_TRUE(eventually([&] { return processes.look(child.pid()).state == 'Z'; }));
  for (int look = 0; look < kLooks; ++look) ASSERT_FALSE(processes.ending(child.pid(), start)) << look;
  words.set(kOver);
  ASSERT_TRUE(child.ended());
  EXPECT_TRUE(processes.ending(child.pid(), start));
}

// The hardest one to see right: its leader has ended, and every other thread ends as soon as it has started the next.
TEST(Ending, AChainOfThreadsLivesAsLongAsItGoesOn) {
  const RealProcesses processes;
  const SharedWords words;
  Child child([&](Child&) {
    link_of_chain(const_cast<SharedWords*>(&words));
    syscall(SYS_exit, 0);
    return 2;
  });
  ASSERT_TRUE(words.seen(kReady));
  const std::uint64_t start = start_of(processes, child.pid());
  ASSERT_TRUE(eventually([&] { return processes.look(child.pid()).state == 'Z'; }));
  const std::uint32_t before = words[kCount].load();
  for (int look = 0; look < kLooks; ++look) ASSERT_FALSE(processes.ending(child.pid(), start)) << look;
  EXPECT_GT(words[kCount].load(), before + 10) << "the chain did not go on while it was looked at";
  words.set(kOver);
  ASSERT_TRUE(child.ended());
  EXPECT_TRUE(eventually([&] { return processes.ending(child.pid(), start); }));
}

// Many processes with threads that come and go: never before its end, always after it.
TEST(Ending, ShortLivedProcessesOfManyThreads) {
  const RealProcesses processes;
  for (int run = 0; run < 60; ++run) {
    const SharedWords words;
    Child child([&](Child&) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
          if (i % 2 == 0) words.seen(kOver);
        });
      }
      words.set(kReady);
      for (auto& thread : threads) thread.join();
      return 0;
    });
    const std::uint64_t start = start_of(processes, child.pid());
    for (int look = 0; look < 20; ++look) ASSERT_FALSE(processes.ending(child.pid(), start)) << run;
    ASSERT_TRUE(words.seen(kReady));
    if (run % 2 == 0) {
      words.set(kOver);
    } else {
      kill(child.pid(), SIGKILL);
    }
    ASSERT_TRUE(eventually([&] { return over(processes, child.pid(), start); })) << run;
    ASSERT_TRUE(child.ended());
    EXPECT_TRUE(processes.ending(child.pid(), start)) << run;
  }
}

}  // namespace
}  // namespace tenure::os
