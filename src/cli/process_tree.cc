#include "cli/process_tree.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>

#include "base/descriptor.h"
#include "cli/process_stat.h"
#include "cli/run_group.h"

namespace tenure::cli {
namespace {

// How soon those are killed again who were forked while the others were; and at most, where one cannot die yet.
constexpr Duration kBetweenKills = std::chrono::milliseconds{20};
constexpr Duration kLongBetweenKills = std::chrono::seconds{1};

// Children by parent, of the whole machine as far as it is shown.
std::multimap<int, int> all_children() {
  std::multimap<int, int> children;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    const int parent = stat_of(pid).parent;
    // Zombies too: one whose first thread alone has ended looks like one.
    if (parent > 0) children.emplace(parent, pid);
  }
  ::closedir(folder);
  return children;
}

// A number may have become another's since it was read: what is signalled is the process that was found to be ours
// after it was pinned down.
void send_if_below(int pid, int number, const std::vector<int>& family) {
  const base::Descriptor pinned(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pinned.open() || std::ranges::find(family, stat_of(pid).parent) == family.end()) return;
  ::syscall(SYS_pidfd_send_signal, pinned.get(), number, nullptr, 0);
}

ChildEnd end_of(const ::siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {info.si_status, 0};
  return {128 + info.si_status, info.si_status};
}

}  // namespace

bool adopt_orphans() {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

bool is_stopped(int pid) {
  return stat_of(pid).state == 'T';
}

std::vector<int> descendants_of(int pid) {
  const std::multimap<int, int> children = all_children();
  std::vector<int> found{pid};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [begin, end] = children.equal_range(found[next]);
    for (auto each = begin; each != end; ++each) {
      // /proc is not read in one moment: a number that was given out anew meanwhile could close a circle.
      if (std::ranges::find(found, each->second) == found.end()) found.push_back(each->second);
    }
  }
  found.erase(found.begin());
  return found;
}

ProcessTree::ProcessTree(int main, int group) : main_(main), group_(group), clock_(compose::real_clock()) {}

ProcessTree::Changes ProcessTree::reap() {
  Changes changes;
  while (true) {
    ::siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) != 0) {
      if (errno == EINTR) continue;
      changes.empty = errno == ECHILD;
      return changes;
    }
    if (info.si_pid == 0) return changes;
    if (info.si_pid != main_) continue;
    if (info.si_code == CLD_STOPPED || info.si_code == CLD_CONTINUED) {
      changes.main_stopped = info.si_code == CLD_STOPPED;
      changes.main_continued = info.si_code == CLD_CONTINUED;
    } else if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
      changes.main_ended = end_of(info);
      main_ = -1;
    }
  }
}

void ProcessTree::signal_all(int number) const {
  // Nobody forks faster than this, and no other user's process is spared. Who left the group is found below.
  if (number == SIGKILL && group_ >= 0) kill_group(group_);
  // A child that was not reaped has its number still; it is reached where there is no /proc, too.
  if (main_ > 0) ::kill(main_, number);
  std::vector<int> family = descendants_of(::getpid());
  const std::vector<int> below = family;
  family.push_back(::getpid());
  for (const int pid : below) {
    if (pid != main_) send_if_below(pid, number, family);
  }
}

void ProcessTree::end(int number, Duration grace) {
  const MonotonicTime now = clock_->monotonic();
  const MonotonicTime kill_at = number == SIGKILL ? now : now + grace;
  if (!ending_ && number != SIGKILL) {
    signal_all(number);
    signal_all(SIGCONT);
  }
  kill_at_ = ending_ ? std::min(*kill_at_, kill_at) : kill_at;
  ending_ = true;
}

int ProcessTree::tend() {
  if (!ending_) return -1;
  const MonotonicTime now = clock_->monotonic();
  if (now >= *kill_at_) {
    signal_all(SIGKILL);
    between_kills_ = std::clamp(between_kills_ * 2, kBetweenKills, kLongBetweenKills);
    kill_at_ = now + between_kills_;
  }
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(*kill_at_ - now) + std::chrono::milliseconds{1};
  return static_cast<int>(std::min<std::int64_t>(left.count(), std::numeric_limits<int>::max()));
}

}  // namespace tenure::cli
