#include "os/linux/probe_locks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "os/linux/probe_child.h"
#include "os/linux/proc_files.h"
#include "os/linux/real_directory.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr Duration kBound = std::chrono::seconds{5};
constexpr char kLife[] = "probe.life";
constexpr char kOtherDisk[] = "use a folder on a local disk";

Fd open_lock(const std::string& path) {
  return Fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// What was seen of a holder that takes a life lock, forks, and is killed.
struct LifeStory {
  std::string trouble;  // why the story ended early
  LifeSight while_alive = LifeSight::unreadable;
  LifeSight after_death = LifeSight::unreadable;
  bool child_outlived = false;  // the holder's own child was there while `after_death` was seen
  bool watched = false;         // there was a watch, and not a poll in its place
  bool death_reported = false;
};

// In the holder: takes the lock with the very code of the engine, forks, tells the child's pid, and stays.
void hold(RealDirectory& directory, int channel) {
  auto life = directory.take_life(kLife, "probe.tmp", false, false);
  if (!life) {
    tell(channel, -1);
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    wait_for_parent(channel);
    _exit(0);
  }
  tell(channel, child);
  wait_for_parent(channel);
}

bool reported(env::Watch& watch) {
  const auto end = std::chrono::steady_clock::now() + kBound;
  while (std::chrono::steady_clock::now() < end) {
    const auto changes = watch.wait(end - std::chrono::steady_clock::now(), nullptr, -1);
    if (!changes) return false;
    if (std::ranges::find(changes->names, kLife) != changes->names.end()) return true;
    if (changes->everything) return false;
  }
  return false;
}

// Events of the time before are read and forgotten.
void forget_changes(env::Watch& watch) {
  for (int round = 0; round < 8; ++round) {
    const auto changes = watch.wait(Duration::zero(), nullptr, -1);
    if (!changes || (changes->names.empty() && !changes->everything)) return;
  }
}

bool inotify_to_be_had() {
  const Fd instance(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  return static_cast<bool>(instance);
}

LifeStory tell_story(const ProbeFolder& folder) {
  LifeStory story;
  auto directory = RealDirectory::open(folder.path(), false, {});
  if (!directory) {
    story.trouble = directory.error().message;
    return story;
  }
  story.watched = inotify_to_be_had();
  auto watch = (*directory)->watch();
  auto holder = ProbeChild::start([&](int channel) { hold(**directory, channel); });
  const std::optional<int> grandchild = holder ? holder->hear(kBound) : std::nullopt;
  if (!grandchild || *grandchild < 0) {
    story.trouble = !holder ? "no child process could be had: " + system_words(errno)
                            : "a child process could not take the lock, or hung while it did";
    return story;
  }
  story.while_alive = (*directory)->probe_life(kLife, std::nullopt).sight;
  if (watch) forget_changes(**watch);
  if (!holder->kill_and_wait()) {
    story.trouble = "the holder could not be killed";
    return story;
  }
  story.after_death = (*directory)->probe_life(kLife, std::nullopt).sight;
  // It waits for us to close our end, which happens when `holder` goes.
  story.child_outlived = *grandchild > 0 && kill(*grandchild, 0) == 0;
  story.death_reported = watch && reported(**watch);
  return story;
}

Probe life_probe(const LifeStory& story) {
  const ProbeOf probe("life lock",
                      "the kernel itself tells whether a holder lives: its lock ends with it, not before, "
                      "and its children have no part in it");
  if (!story.trouble.empty()) return probe.bad(story.trouble, kOtherDisk);
  if (story.while_alive != LifeSight::held) {
    return probe.bad("the lock was gone as soon as its descriptor was closed, while its holder lived", kOtherDisk);
  }
  if (story.after_death != LifeSight::free) {
    return probe.bad(story.child_outlived ? "the lock outlived its holder: a forked child had inherited it"
                                          : "the lock was not given free by the death of its holder",
                     kOtherDisk);
  }
  if (!story.child_outlived) {
    return probe.limited(
        "the lock was held while its holder lived and free after its death; whether a child inherits it "
        "could not be seen, since none could be had",
        "raise the limit of processes (ulimit -u)");
  }
  return probe.good(
      "held by a mapping with its descriptor closed, seen by another process, not inherited by a forked "
      "child, free at once when its holder was killed");
}

std::string inotify_limits() {
  std::string words;
  for (const char* name : {"max_user_instances", "max_user_watches"}) {
    const ProcFile file = read_proc_file("/proc/sys/fs/inotify/" + std::string(name));
    if (file.status != ProcessSight::Stat::read) continue;
    words += std::string(words.empty() ? "" : ", ") + name + " " + file.bytes.substr(0, file.bytes.find('\n'));
  }
  return words.empty() ? "limits unknown" : words;
}

Probe watch_probe(const LifeStory& story) {
  const ProbeOf probe("watch", "who waits is woken by a release, and by the death of the holder");
  constexpr char kRaise[] = "sysctl fs.inotify.max_user_instances=1024, or end programs that use many";
  if (!story.watched) {
    return probe.limited(
        "no inotify instance could be had (" + inotify_limits() + "): waiting looks every 50 ms instead", kRaise);
  }
  if (!story.trouble.empty()) return probe.limited("could not be tried: " + story.trouble, kOtherDisk);
  if (!story.death_reported) {
    return probe.limited("the death of a holder was not reported (" + inotify_limits() +
                             "): waiting notices it at its "
                             "next look",
                         kOtherDisk);
  }
  return probe.good("the death of a holder was reported (" + inotify_limits() + ")");
}

}  // namespace

Probe probe_flock(const ProbeFolder& folder) {
  const ProbeOf probe("flock", "two processes cannot be inside the section of one key");
  const std::string path = folder.file("probe.lock");
  const Fd first = open_lock(path);
  const Fd second = open_lock(path);
  if (!first || !second) return probe.bad("cannot open a lock file: " + system_words(errno), kOtherDisk);
  if (flock(first.get(), LOCK_EX | LOCK_NB) != 0) return probe.bad("flock failed: " + system_words(errno), kOtherDisk);
  if (flock(second.get(), LOCK_EX | LOCK_NB) == 0) {
    return probe.bad("two descriptions of one file both got the exclusive lock", kOtherDisk);
  }
  if (errno != EWOULDBLOCK) return probe.bad("flock failed: " + system_words(errno), kOtherDisk);
  if (flock(first.get(), LOCK_UN) != 0 || flock(second.get(), LOCK_EX | LOCK_NB) != 0) {
    return probe.bad("the lock was not given free: " + system_words(errno), kOtherDisk);
  }
  return probe.good("the second of two descriptions was refused, and let in when the first had left");
}

std::vector<Probe> probe_life_and_watch(const ProbeFolder& folder) {
  const LifeStory story = tell_story(folder);
  return {life_probe(story), watch_probe(story)};
}

}  // namespace tenure::os
