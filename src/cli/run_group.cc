#include "cli/run_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "compose/real_environment.h"

namespace tenure::cli {
namespace {

constexpr std::string_view kPrefix = "tenure-run-";
constexpr int kMostNames = 64;      // that may be taken, by runs of our number in other pid namespaces
constexpr int kMostLeftOvers = 64;  // removed at once; the next run goes on with the others
constexpr int kMostDepth = 8;       // runs within runs that were all killed

Descriptor open_group(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

bool is_at(const Descriptor& folder, const std::string& path) {
  struct ::stat opened{};
  struct ::stat named{};
  return ::fstat(folder.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino;
}

// "max" where there is none; no such file where nobody has switched the controller on.
bool limits(const std::string& own, const char* file) {
  const Descriptor opened(::open((own + file).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> bytes{};
  const ::ssize_t got = opened.open() ? ::read(opened.get(), bytes.data(), bytes.size()) : -1;
  return got > 0 && !std::string_view(bytes.data(), static_cast<std::size_t>(got)).starts_with("max");
}

bool says_1(const std::string& own, const char* attribute) {
  std::array<char, 4> bytes{};
  return ::getxattr(own.c_str(), attribute, bytes.data(), bytes.size()) == 1 && bytes[0] == '1';
}

// systemd has one writer for each part of its tree, and marks those that it gave away.
bool is_ours_to_divide(const std::string& own) {
  if (::access("/run/systemd/system", F_OK) != 0) return true;
  return says_1(own, "user.delegate") || says_1(own, "trusted.delegate");
}

std::vector<std::string> groups_below(const std::string& own) {
  std::vector<std::string> out;
  DIR* folder = ::opendir(own.c_str());
  if (folder == nullptr) return out;
  while (const dirent* entry = ::readdir(folder)) {
    if (std::string_view(entry->d_name).starts_with(kPrefix)) out.push_back(own + "/" + entry->d_name);
    if (out.size() == kMostLeftOvers) break;
  }
  ::closedir(folder);
  return out;
}

void remove_left_overs(const std::string& own, int depth);

// The kernel refuses to remove one in which somebody lives.
void remove_group(const std::string& path, int depth) {
  if (::rmdir(path.c_str()) == 0 || errno != EBUSY || depth == kMostDepth) return;
  remove_left_overs(path, depth + 1);
  ::rmdir(path.c_str());
}

// Those that nobody has in use.
void remove_left_overs(const std::string& own, int depth) {
  for (const std::string& path : groups_below(own)) {
    const Descriptor folder = open_group(path);
    if (folder.open() && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) remove_group(path, depth);
  }
}

}  // namespace

Result<RunGroup> RunGroup::make(GroupWish wish) {
  if (wish == GroupWish::never) return RunGroup();
  const bool required = wish == GroupWish::require;
  const std::string own = compose::own_control_group_folder();
  if (own.empty()) {
    if (!required) return RunGroup();
    return fail(Code::unsupported, "--cgroup require: no control group of version 2 is to be seen here",
                "tenure doctor");
  }
  if (!required && !is_ours_to_divide(own)) return RunGroup();
  if (!required && (limits(own, "/memory.max") || limits(own, "/memory.high") || limits(own, "/cpu.max"))) {
    return RunGroup();
  }
  auto made = make_below(own);
  if (made) remove_left_overs(own, 0);
  if (made || required) return made;
  return RunGroup();
}

Result<RunGroup> RunGroup::make_below(const std::string& own) {
  const std::string stem = own + "/" + std::string(kPrefix) + std::to_string(::getpid());
  if (stem.size() + 3 > limits::kGroupBytes)
    return fail(Code::limit_reached, "the name of our control group is too long");
  for (int number = 0; number < kMostNames; ++number) {
    std::string path = stem + "-" + std::to_string(number);
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      Error error = system_error(errno, "--cgroup require: cannot make the control group " + escape_controls(path));
      error.remedy = "run in a delegated group: systemd-run --user --scope -p Delegate=yes COMMAND";
      return fail(error);
    }
    Descriptor folder = open_group(path);
    // Who removes what was left behind may take it for that, until it has our lock.
    if (folder.open() && ::flock(folder.get(), LOCK_SH | LOCK_NB) == 0 && is_at(folder, path)) {
      return RunGroup(std::move(path), std::move(folder));
    }
  }
  return fail(Code::limit_reached, "--cgroup require: no name is left for a control group of ours");
}

RunGroup::RunGroup(RunGroup&& other) noexcept
    : path_(std::exchange(other.path_, {})), folder_(std::move(other.folder_)) {}

void RunGroup::remove() {
  if (!folder_.open()) return;
  if (is_at(folder_, path_)) remove_group(path_, 0);
  folder_.reset();
}

bool kill_group(int folder) {
  const Descriptor kill(::openat(folder, "cgroup.kill", O_WRONLY | O_CLOEXEC));
  return kill.open() && ::write(kill.get(), "1", 1) == 1;
}

}  // namespace tenure::cli
