#include "os/linux/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>

#include "base/limits.h"
#include "base/text.h"
#include "os/linux/fd.h"

namespace tenure::os {
namespace {

using Stat = ProcessSight::Stat;

// No thread group that a machine can carry has more; a longer list is not worth an answer.
constexpr std::size_t kMostThreads = 200'000;

Stat status_of(int error) {
  if (error == ENOENT || error == ESRCH) return Stat::absent;
  if (error == EACCES || error == EPERM) return Stat::denied;
  return Stat::unusable;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the next word off the front.
std::string_view take_word(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && text[end] != ' ' && text[end] != '\t' && text[end] != '\n') ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// "08:01:131": device numbers in hex, the inode in decimal.
std::string lock_place(FileIdentity file) {
  const dev_t device = static_cast<dev_t>(file.device);
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%02x:%02x:%llu", major(device), minor(device),
                static_cast<unsigned long long>(file.inode));
  return buffer.data();
}

}  // namespace

ProcFile read_proc_file(const std::string& path, std::size_t max_bytes) {
  const Fd file(retry_interrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (!file) return {status_of(errno), {}};
  std::string bytes;
  std::array<char, 4096> chunk{};
  while (bytes.size() < max_bytes) {
    const ssize_t got = retry_interrupted([&] { return read(file.get(), chunk.data(), chunk.size()); });
    if (got < 0) return {status_of(errno), {}};
    if (got == 0) break;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return {Stat::read, std::move(bytes)};
}

std::string read_proc_link(const std::string& path) {
  std::string target(limits::kPathBytes, '\0');
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return {};
  target.resize(static_cast<std::size_t>(length));
  return target;
}

std::uint64_t namespace_inode(const std::string& path) {
  struct stat entry{};
  return stat(path.c_str(), &entry) == 0 ? entry.st_ino : 0;
}

bool proc_is_procfs() {
  struct statfs system{};
  return retry_interrupted([&] { return statfs("/proc", &system); }) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  // The command stands in parentheses and may hold any byte, ')' and blanks too: it ends at the last ')'.
  const std::size_t open_mark = text.find(" (");
  const std::size_t close_mark = text.rfind(')');
  if (open_mark == std::string_view::npos || close_mark == std::string_view::npos || close_mark < open_mark + 2) {
    return std::nullopt;
  }
  ProcStat stat;
  const auto pid = number<std::int32_t>(text.substr(0, open_mark));
  if (!pid) return std::nullopt;
  stat.pid = *pid;
  stat.command = text.substr(open_mark + 2, close_mark - open_mark - 2);
  std::string_view rest = text.substr(close_mark + 1);
  std::array<std::string_view, 23> fields;  // by the numbers of proc(5)
  for (std::size_t i = 3; i < fields.size(); ++i) fields[i] = take_word(rest);
  const auto flags = number<std::uint32_t>(fields[9]);
  const auto threads = number<std::uint32_t>(fields[20]);
  const auto ticks = number<std::uint64_t>(fields[22]);
  if (fields[3].size() != 1 || !flags || !threads || !ticks) return std::nullopt;
  stat.state = fields[3].front();
  stat.flags = *flags;
  stat.threads = *threads;
  stat.start_ticks = *ticks;
  return stat;
}

std::optional<std::uint64_t> status_number(std::string_view status, std::string_view field, int index) {
  while (!status.empty()) {
    std::string_view line = take_line(status);
    if (!line.starts_with(field)) continue;
    line.remove_prefix(field.size());
    for (int i = 0; i < index; ++i) take_word(line);
    return number<std::uint64_t>(take_word(line));
  }
  return std::nullopt;
}

std::uint64_t parse_boot_seconds(std::string_view proc_stat) {
  return status_number(proc_stat, "btime ", 0).value_or(0);
}

std::optional<std::int32_t> flock_holder(std::string_view proc_locks, FileIdentity file) {
  const std::string place = lock_place(file);
  while (!proc_locks.empty()) {
    std::string_view line = take_line(proc_locks);
    take_word(line);  // its number
    // A waiter's line has "->" here.
    if (take_word(line) != "FLOCK") continue;
    take_word(line);  // ADVISORY
    take_word(line);  // WRITE or READ
    const auto pid = number<std::int32_t>(take_word(line));
    if (pid && *pid > 0 && take_word(line) == place) return pid;
  }
  return std::nullopt;
}

std::string shown_command(std::string_view cmdline, std::size_t max_bytes) {
  std::string text(cmdline);
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  const std::string shown = escape_controls(trim(text));
  return std::string(cut_text(shown, max_bytes));
}

std::optional<std::uint64_t> last_status_number(std::string_view status, std::string_view field) {
  while (!status.empty()) {
    std::string_view line = take_line(status);
    if (!line.starts_with(field)) continue;
    line.remove_prefix(field.size());
    std::optional<std::uint64_t> last;
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
      last = number<std::uint64_t>(word);
      if (!last) break;
    }
    return last;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int32_t>> thread_ids(std::int32_t pid) {
  return numbers_in("/proc/" + std::to_string(pid) + "/task", kMostThreads);
}

std::optional<std::vector<std::int32_t>> numbers_in(const std::string& folder, std::size_t most) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  if (!listing) return std::nullopt;
  std::vector<std::int32_t> numbers;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(listing.get());
    if (entry == nullptr) return errno == 0 ? std::optional(std::move(numbers)) : std::nullopt;
    const auto each = number<std::int32_t>(entry->d_name);
    if (!each) continue;
    if (numbers.size() >= most) return std::nullopt;
    numbers.push_back(*each);
  }
}

}  // namespace tenure::os
