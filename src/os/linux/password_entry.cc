#include "os/linux/password_entry.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "os/linux/fd.h"

namespace tenure::os {
namespace {

constexpr int kPatienceMs = 5'000;
constexpr std::size_t kLineBytes = 16 * 1024;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::optional<PasswordEntry> entry_in(std::FILE* file, std::uint32_t user) {
  std::array<char, kLineBytes> buffer;
  passwd entry{};
  passwd* found = nullptr;
  while (fgetpwent_r(file, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    if (found->pw_uid == user) return PasswordEntry{found->pw_name, found->pw_dir};
  }
  return std::nullopt;
}

std::optional<PasswordEntry> in_file(std::uint32_t user) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen("/etc/passwd", "rce"));
  return file ? entry_in(file.get(), user) : std::nullopt;
}

// What it writes until it ends; nothing when it takes too long.
std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 1024> buffer;
  pollfd readable{descriptor, POLLIN, 0};
  while (text.size() < kLineBytes) {
    const int ready = poll(&readable, 1, kPatienceMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string getent(std::uint32_t user) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Fd out(ends[0]);
  Fd in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string number = std::to_string(user);
  std::array<char*, 4> words{const_cast<char*>("getent"), const_cast<char*>("passwd"), number.data(), nullptr};
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {};
  in = Fd();
  std::string text = all_of(out.get());
  if (text.empty()) kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

std::optional<PasswordEntry> by_service(std::uint32_t user) {
  std::string text = getent(user);
  if (text.empty()) return std::nullopt;
  const std::unique_ptr<std::FILE, CloseFile> file(fmemopen(text.data(), text.size(), "r"));
  return file ? entry_in(file.get(), user) : std::nullopt;
}

}  // namespace

std::optional<PasswordEntry> password_entry(std::uint32_t user) {
  static std::mutex mutex;
  static std::map<std::uint32_t, std::optional<PasswordEntry>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(user); found != known.end()) return found->second;
  auto entry = in_file(user);
  if (!entry) entry = by_service(user);
  return known.emplace(user, std::move(entry)).first->second;
}

}  // namespace tenure::os
