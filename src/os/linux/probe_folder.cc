#include "os/linux/probe_folder.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "os/linux/folder_moves.h"
#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

// The pid of the maker follows, then six characters of mkdtemp(3).
constexpr std::string_view kPrefix = ".tenure-probe-";

// Whether its maker is still there, as far as this pid namespace can tell.
bool maker_lives(std::string_view name) {
  name.remove_prefix(kPrefix.size());
  int pid = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc{} || pid <= 0) return true;
  return kill(pid, 0) == 0 || errno == EPERM;
}

void remove_leftovers(const std::string& parent) {
  const auto names = names_in(parent);
  if (!names) return;
  for (const std::string& name : *names) {
    if (is_probe_folder_name(name) && !maker_lives(name)) remove_probe_folder(parent + "/" + name);
  }
}

}  // namespace

bool is_probe_folder_name(std::string_view name) {
  return name.starts_with(kPrefix);
}

Result<ProbeFolder> ProbeFolder::make(const std::string& parent) {
  remove_leftovers(parent);
  std::string path = parent + "/" + std::string(kPrefix) + std::to_string(getpid()) + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return system_failure(errno, "make a folder in", parent);
  return ProbeFolder(std::move(path));
}

ProbeFolder::~ProbeFolder() {
  if (!path_.empty()) remove_probe_folder(path_);
}

void remove_probe_folder(const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) return;
  const auto names = names_in(path);
  if (names) {
    for (const std::string& name : *names) unlink((path + "/" + name).c_str());
  }
  rmdir(path.c_str());
}

}  // namespace tenure::os
