#include "tenure/stop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace tenure {
namespace {

TEST(Stop, IsReadableFromTheRequestOn) {
  const auto stop = Stop::create();
  ASSERT_TRUE(stop);
  EXPECT_FALSE(stop->requested());
  stop->request();
  stop->request();
  EXPECT_TRUE(stop->requested());
  EXPECT_TRUE(stop->requested()) << "asking does not use it up";
}

TEST(Stop, EndsAWaitInAnotherThread) {
  const auto stop = Stop::create();
  ASSERT_TRUE(stop);
  std::thread other([&] { stop->request(); });
  pollfd entry{stop->descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 30000), 1);
  other.join();
}

TEST(Stop, IsNotInheritedByExec) {
  const auto stop = Stop::create();
  ASSERT_TRUE(stop);
  EXPECT_NE(fcntl(stop->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Stop, MovesItsDescriptor) {
  auto first = Stop::create();
  ASSERT_TRUE(first);
  const int descriptor = first->descriptor();
  Stop second = std::move(*first);
  EXPECT_EQ(second.descriptor(), descriptor);
  EXPECT_EQ(first->descriptor(), -1);
  EXPECT_FALSE(first->requested());
  first->request();  // of nothing: harmless
  EXPECT_FALSE(second.requested());
}

const Stop* stop_of_the_handler = nullptr;

TEST(Stop, CanBeRequestedInASignalHandler) {
  const auto stop = Stop::create();
  ASSERT_TRUE(stop);
  stop_of_the_handler = &*stop;
  struct sigaction action{};
  struct sigaction former{};
  action.sa_handler = [](int) { stop_of_the_handler->request(); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &former), 0);
  errno = 1234;
  raise(SIGUSR1);
  EXPECT_EQ(errno, 1234) << "errno belongs to what was interrupted";
  EXPECT_TRUE(stop->requested());
  sigaction(SIGUSR1, &former, nullptr);
}

TEST(Stop, SaysWhenThereAreNoDescriptors) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(2);
    const auto stop = Stop::create();
    _exit(!stop && stop.error().code == Code::no_descriptors ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tenure
