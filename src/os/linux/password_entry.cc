#include "os/linux/password_entry.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <string_view>

#include "os/linux/fd.h"

namespace tenure::os {
namespace {

constexpr int kPatienceMs = 5'000;
constexpr std::size_t kLineBytes = 16 * 1024;

// name:password:user:group:comment:home:shell, see passwd(5). By hand, since fgetpwent(3) touches forty kilobytes.
std::optional<PasswordEntry> entry_of(std::string_view line, const std::string& user) {
  std::array<std::string_view, 7> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t colon = i + 1 < fields.size() ? line.find(':') : line.size();
    if (colon == std::string_view::npos) return std::nullopt;
    fields[i] = line.substr(0, colon);
    line.remove_prefix(std::min(colon + 1, line.size()));
  }
  if (fields[0].empty() || fields[2] != user) return std::nullopt;
  return PasswordEntry{std::string(fields[0]), std::string(fields[5])};
}

std::optional<PasswordEntry> entry_in(std::string_view lines, const std::string& user) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (auto entry = entry_of(lines.substr(0, end), user)) return entry;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return std::nullopt;
}

std::optional<PasswordEntry> in_file(const std::string& user) {
  const Fd file(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> buffer;
  std::string begun;  // a line whose end was not read yet
  while (file) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || begun.size() > kLineBytes) break;
    begun.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t lines = begun.rfind('\n') + 1;  // 0: none ends here
    if (auto entry = entry_in(std::string_view(begun).substr(0, lines), user)) return entry;
    begun.erase(0, lines);
  }
  return entry_in(begun, user);
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

std::string getent(std::string user) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Fd out(ends[0]);
  Fd in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::array<char*, 4> words{const_cast<char*>("getent"), const_cast<char*>("passwd"), user.data(), nullptr};
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

}  // namespace

std::optional<PasswordEntry> password_entry(std::uint32_t user) {
  static std::mutex mutex;
  static std::map<std::uint32_t, std::optional<PasswordEntry>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(user); found != known.end()) return found->second;
  const std::string number = std::to_string(user);
  auto entry = in_file(number);
  if (!entry) entry = entry_in(getent(number), number);
  return known.emplace(user, std::move(entry)).first->second;
}

}  // namespace tenure::os
