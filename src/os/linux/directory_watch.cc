#include "os/linux/directory_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/limits.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

using Changes = env::Watch::Changes;
using std::chrono::steady_clock;

constexpr std::uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// After these the names alone do not tell: events were lost, or the folder itself went away.
constexpr std::uint32_t kEverything = IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
constexpr std::uint32_t kWatchGone = IN_IGNORED | IN_UNMOUNT;

timespec to_timespec(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {seconds.count(), static_cast<long>((duration - seconds).count())};
}

class RealWatch final : public env::Watch {
 public:
  // Without a descriptor it polls.
  RealWatch(Fd instance, std::string path) : instance_(std::move(instance)), path_(std::move(path)) {}

  Result<Changes> wait(Duration at_most, const Stop* stop, int other_descriptor) override {
    at_most = std::clamp(at_most, Duration::zero(), limits::kLongestDuration);
    const auto start = steady_clock::now();
    for (;;) {
      const Duration left = std::max(Duration::zero(), at_most - Duration(steady_clock::now() - start));
      const bool polls = !instance_ || ended_;
      std::array<pollfd, 3> entries{pollfd{polls ? -1 : instance_.get(), POLLIN, 0},
                                    pollfd{stop == nullptr ? -1 : stop->descriptor(), POLLIN, 0},
                                    pollfd{other_descriptor, POLLIN, 0}};
      const timespec bound = to_timespec(polls ? std::min(left, limits::kWatchPoll) : left);
      const int ready = ppoll(entries.data(), entries.size(), &bound, nullptr);
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0) return system_failure(errno, "watch", path_);
      if (polls) return Changes{{}, true};
      if (entries[0].revents == 0) return Changes{};  // a timeout, the stop, or the other descriptor
      auto changes = drain();
      // Another thread may have been quicker to read.
      if (!changes || changes->everything || !changes->names.empty()) return changes;
    }
  }

 private:
  Result<Changes> drain() {
    Changes changes;
    alignas(inotify_event) std::array<char, 16384> buffer;
    for (;;) {
      const ssize_t got = retry_interrupted([&] { return read(instance_.get(), buffer.data(), buffer.size()); });
      if (got < 0 && errno == EAGAIN) return changes;
      if (got < 0) return system_failure(errno, "watch", path_);
      if (got == 0) return changes;
      if (!take({buffer.data(), static_cast<std::size_t>(got)}, changes)) {
        ended_ = true;  // for good; from now on it polls
        return changes;
      }
      // A folder that changes without end must not keep us here: what is left comes with the next call.
      if (static_cast<std::size_t>(got) < buffer.size() / 2) return changes;
    }
  }

  // False when the watch itself has ended.
  static bool take(std::string_view bytes, Changes& changes) {
    bool goes_on = true;
    while (bytes.size() >= sizeof(inotify_event)) {
      inotify_event event;
      std::memcpy(&event, bytes.data(), sizeof event);
      bytes.remove_prefix(sizeof event);
      if ((event.mask & kEverything) != 0) changes.everything = true;
      if ((event.mask & kWatchGone) != 0) goes_on = false;
      const std::string_view padded = bytes.substr(0, event.len);
      const std::string name(padded.substr(0, padded.find('\0')));
      if (!name.empty() && (changes.names.empty() || changes.names.back() != name)) changes.names.push_back(name);
      bytes.remove_prefix(event.len);
    }
    return goes_on;
  }

  Fd instance_;
  std::atomic<bool> ended_ = false;
  std::string path_;
};

// By the open descriptor, so that the very folder is watched that was checked; by its path where /proc is missing.
bool add_watch(int instance, const Folder& folder) {
  const std::string open_folder = "/proc/self/fd/" + std::to_string(folder.descriptor.get());
  if (inotify_add_watch(instance, open_folder.c_str(), kEvents) >= 0) return true;
  if (errno != ENOENT) return false;
  struct stat by_path{};
  struct stat by_descriptor{};
  if (fstat(folder.descriptor.get(), &by_descriptor) != 0) return false;
  if (inotify_add_watch(instance, folder.path.c_str(), kEvents) < 0) return false;
  return stat(folder.path.c_str(), &by_path) == 0 && identity_of(by_path) == identity_of(by_descriptor);
}

}  // namespace

std::unique_ptr<env::Watch> watch_folder(const Folder& folder) {
  Fd instance(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (instance && !add_watch(instance.get(), folder)) instance.reset();
  return std::make_unique<RealWatch>(std::move(instance), folder.path);
}

}  // namespace tenure::os
