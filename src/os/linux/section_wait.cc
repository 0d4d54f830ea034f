#include "os/linux/section_wait.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/folder.h"
#include "os/linux/proc_files.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using Stat = ProcessSight::Stat;

// A section lasts some microseconds: it is mostly over before a sleep would have begun.
constexpr int kYields = 16;
constexpr std::size_t kLocksBytes = std::size_t{4} * 1024 * 1024;

struct Inside {
  std::string words;  // ": pid 12 (vim x) is inside"
  std::string remedy;
};

Inside describe_inside(std::int32_t pid) {
  const std::string number = std::to_string(pid);
  const ProcFile stat_file = read_proc_file("/proc/" + number + "/stat");
  if (stat_file.status == Stat::absent) {
    return {": pid " + number + " took the lock and is gone, but a child of it keeps the lock open", ""};
  }
  const auto stat = stat_file.status == Stat::read ? parse_proc_stat(stat_file.bytes) : std::nullopt;
  const ProcFile cmdline = read_proc_file("/proc/" + number + "/cmdline");
  std::string command = shown_command(cmdline.bytes, 128);
  if (command.empty() && stat) command = escape_controls(stat->command);
  const std::string who = ": pid " + number + (command.empty() ? "" : " (" + command + ")");
  if (stat && (stat->state == 'T' || stat->state == 't')) {
    return {who + " is inside and is stopped", "continue it: kill -CONT " + number};
  }
  return {who + " is inside", "wait for process " + number + ", or end it"};
}

Inside find_inside(const struct stat& file) {
  const ProcFile locks = read_proc_file("/proc/locks", kLocksBytes);
  if (const auto pid = flock_holder(locks.bytes, identity_of(file))) return describe_inside(*pid);
  return {"; which process that is cannot be seen from here", "look for it: lsof on that file"};
}

}  // namespace

SectionWait::SectionWait(Duration at_most, const Stop* stop)
    : at_most_(std::clamp(at_most, Duration::zero(), limits::kLongestDuration)),
      stop_(stop),
      start_(std::chrono::steady_clock::now()) {}

Result<SectionWait::End> SectionWait::take(int descriptor, const std::string& place, int kind) {
  Duration delay = limits::kSectionPollFirst;
  for (int attempt = 0;; ++attempt) {
    if (flock(descriptor, kind | LOCK_NB) == 0) return End::taken;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return system_failure(errno, "lock", place);
    if (stop_ != nullptr && stop_->requested()) return End::stopped;
    const Duration left = at_most_ - (std::chrono::steady_clock::now() - start_);
    if (left <= Duration::zero()) return End::late;
    pause(attempt, delay, left);
  }
}

void SectionWait::pause(int attempt, Duration& delay, Duration left) const {
  if (attempt < kYields) {
    sched_yield();
    return;
  }
  const Duration nap = std::min(delay, left);
  const timespec time{0, static_cast<long>(nap.count())};
  pollfd stop{stop_ == nullptr ? -1 : stop_->descriptor(), POLLIN, 0};
  ppoll(&stop, 1, &time, nullptr);
  delay = std::min(delay * 2, limits::kSectionPollMost);
}

std::unexpected<Error> SectionWait::refuse(End end, const struct stat& file, const std::string& place) const {
  Inside inside = find_inside(file);
  const std::string how = end == End::stopped
                              ? "the wait for the locked section of " + place + " was given up"
                              : "the locked section of " + place + " was not left within " + words(at_most_);
  return fail(Code::section_busy, how + inside.words, std::move(inside.remedy));
}

}  // namespace tenure::os
