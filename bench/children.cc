#include "children.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "must.h"

namespace tenure::bench {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{4};
constexpr int kLooksAsleep = 5;
constexpr int kMostLooks = 2500;

bool asleep(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(") ");
  if (name_end == std::string::npos) stop_here("cannot read the state of a child");
  return line.at(name_end + 2) == 'S';
}

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> ends{};
  must(::pipe2(ends.data(), O_CLOEXEC), "pipe");
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

void send_byte(int descriptor) {
  must(::write(descriptor, "", 1), "write to a pipe");
}

bool receive_byte(int descriptor) {
  char byte = 0;
  return must(::read(descriptor, &byte, 1), "read from a pipe") == 1;
}

pid_t start_child(const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  const pid_t child = must(::fork(), "fork");
  if (child != 0) return child;
  must(::prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
  if (::getppid() == parent) body();
  _exit(0);
}

void expect_success(pid_t child) {
  int status = 0;
  must(::waitpid(child, &status, 0), "waitpid");
  if (status != 0) stop_here("a child failed with status " + std::to_string(status));
}

void reap(pid_t child) {
  must(::waitpid(child, nullptr, 0), "waitpid");
}

void wait_until_asleep(pid_t child) {
  int in_a_row = 0;
  for (int look = 0; look < kMostLooks; ++look) {
    in_a_row = asleep(child) ? in_a_row + 1 : 0;
    if (in_a_row == kLooksAsleep) return;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  stop_here("a waiter never came to rest");
}

void* share_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) stop_here("mmap");
  return memory;
}
void unshare_memory(void* memory, std::size_t bytes) {
  ::munmap(memory, bytes);
}

}  // namespace tenure::bench
