#include "os/linux/probe_local.h"

#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <functional>

#include "base/text.h"
#include "os/linux/local_folder.h"
#include "os/linux/probe_child.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

constexpr Duration kBound = std::chrono::seconds{5};
constexpr std::size_t kTable = 4'096;
constexpr std::uint64_t kByte = 0;
constexpr char kOtherDisk[] = "use a folder on ext4, xfs, btrfs, f2fs or zfs";

// What a probe's table holds.
struct Words {
  env::Word life;
  env::Word inbox;
};

enum Told : int { joined = 1, joined_without_flag = 2, failed = 3 };

Result<bool> join(RealLocalFolder& folder) {
  if (auto entered = folder.enter(kBound); !entered) return fail(entered.error());
  auto alone = folder.enter_alone();
  if (!alone) return fail(alone.error());
  auto made = folder.make_table(kTable, kTable, [](std::byte* /*memory*/) {});
  if (!made) return fail(made.error());
  if (auto shared = folder.let_others_in(); !shared) return fail(shared.error());
  auto taken = folder.take_byte(kByte);
  if (!taken) return fail(taken.error());
  auto& words = *reinterpret_cast<Words*>((*made)->data());
  // Stays mapped for as long as the process lives, which is killed.
  static_cast<void>(made->release());
  auto kept = folder.start_keeper({&words.life, &words.inbox, [] {}, std::chrono::seconds{1}});
  if (!kept && kept.error().code != Code::unsupported) return fail(kept.error());
  return kept.has_value();
}

// In the member.
void be_member(const std::string& path, int channel) {
  auto folder = RealLocalFolder::open(path, false, {}, true);
  const Result<bool> flag = folder ? join(**folder) : Result<bool>{fail(folder.error())};
  tell(channel, !flag ? failed : *flag ? joined : joined_without_flag);
  wait_for_parent(channel);
}

int outcome(long result) {
  return result < 0 ? errno : 0;
}

int try_robust_list() {
  void* head = nullptr;
  std::size_t length = 0;
  return outcome(syscall(SYS_get_robust_list, 0, &head, &length));
}

int try_own_descriptors() {
  return outcome(syscall(SYS_close_range, UINT_MAX, UINT_MAX, CLOSE_RANGE_UNSHARE));
}

// 0 where a forked child finds the page empty, and another page not at all.
int try_wiped_pages() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* wiped = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* unshared = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (wiped == MAP_FAILED || unshared == MAP_FAILED) return errno;
  if (madvise(wiped, page, MADV_WIPEONFORK) != 0 || madvise(unshared, page, MADV_DONTFORK) != 0) return errno;
  *static_cast<volatile char*>(wiped) = 1;
  const pid_t child = fork();
  if (child < 0) return errno;
  // A page that is not mapped cannot be looked for.
  if (child == 0) {
    const bool empty = *static_cast<volatile char*>(wiped) == 0;
    _exit(empty && msync(unshared, page, MS_ASYNC) != 0 && errno == ENOMEM ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return errno;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ENOSYS;
}

Probe feature(const char* name, const char* promise, const char* instead, const std::function<int()>& call) {
  const ProbeOf probe(name, promise);
  const auto result = result_in_child(call, kBound);
  if (result && *result == 0) return probe.good("it works");
  const std::string seen = result ? system_words(*result) : "the process that tried it was killed, or could not be had";
  return probe.limited(seen + "; " + instead,
                       "use a kernel of 5.11 or later, and allow it in the seccomp profile of the container");
}

}  // namespace

Probe probe_local_file_system(const ProbeFolder& folder, bool volatile_ok) {
  const ProbeOf probe("local file system", "memory shared through a file, and its locks, are one for all processes");
  const auto opened = RealLocalFolder::open(folder.path(), false, {}, volatile_ok);
  if (!opened) return probe.bad(opened.error().message, opened.error().remedy);
  const std::string name = (*opened)->file_system().name;
  if (name == "overlay") {
    return probe.limited(
        "overlay: private to this container; others that see the same path through another upper layer see another "
        "space",
        "mount a volume there, where several containers are to share it");
  }
  if (name == "tmpfs") {
    return probe.limited("tmpfs: a reboot forgets the epochs, as ?volatile allows", "use a folder on a disk");
  }
  return probe.good(name);
}

Probe probe_member(const ProbeFolder& folder) {
  const ProbeOf probe("member", "a process that has the space open is seen while it lives, and its death at once");
  auto member = ProbeChild::start([&](int channel) { be_member(folder.path(), channel); });
  const std::optional<int> told = member ? member->hear(kBound) : std::nullopt;
  if (!told || *told == failed) {
    return probe.bad(!member ? "no child process could be had: " + system_words(errno)
                             : "a child process could not join, or hung while it did",
                     kOtherDisk);
  }
  auto seen = RealLocalFolder::open(folder.path(), false, {.observe_only = true});
  if (!seen) return probe.bad(seen.error().message, kOtherDisk);
  auto memory = (*seen)->map_table(kTable, kTable);
  if (!memory || *memory == nullptr) return probe.bad("its table cannot be mapped", kOtherDisk);
  const auto& words = *reinterpret_cast<const Words*>((*memory)->data());
  using Sight = env::LocalFolder::ByteSight;
  if ((*seen)->probe_byte(kByte) != Sight::held) {
    return probe.bad("its lock was gone while it lived, as soon as its descriptor was closed", kOtherDisk);
  }
  const bool named = (words.life.load() & env::kThreadMask) != 0;
  if (!member->kill_and_wait()) return probe.bad("it could not be killed", kOtherDisk);
  if ((*seen)->probe_byte(kByte) != Sight::free) return probe.bad("its lock outlived it", kOtherDisk);
  if (*told == joined_without_flag || !named || (words.life.load() & env::kFlaggedBit) == 0) {
    return probe.limited(
        "its lock told of its death; the kernel did not flag its word, so the deaths of large processes "
        "are noticed late",
        "allow set_robust_list in the seccomp profile of the container");
  }
  return probe.good(
      "its lock was held by a mapping with its descriptor closed, and free after its death, of which the "
      "kernel flagged its word");
}

std::vector<Probe> probe_local_features() {
  return {feature("robust list", "the kernel flags a word when a thread ends",
                  "deaths are noticed when the memory of the process is freed", try_robust_list),
          feature("own descriptors", "the keeper thread keeps its descriptors from the closefrom of its host",
                  "nobody holds the folder itself while its members live", try_own_descriptors),
          feature("wiped pages", "a forked child has no part in its parent's membership",
                  "a child is told from its parent by its process id", try_wiped_pages)};
}

}  // namespace tenure::os
