#include "os/linux/user_home.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "os/linux/password_entry.h"

namespace tenure::os {

UserHome user_home() {
  UserHome home;
  home.user = ::geteuid();
  if (auto entry = password_entry(home.user)) home.folder = std::move(entry->home);
  struct stat status = {};
  if (home.folder.empty() || home.folder.front() != '/') {
    home.why_not = "the password database names no home for user " + std::to_string(home.user);
  } else if (::stat(home.folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    home.why_not = home.folder + " is not there";
  } else if (::eaccess(home.folder.c_str(), W_OK | X_OK) != 0) {
    home.why_not = home.folder + " cannot be written to";
  } else {
    home.usable = true;
  }
  return home;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string working_directory() {
  char buffer[PATH_MAX];
  return ::getcwd(buffer, sizeof buffer) == nullptr ? "" : buffer;
}

}  // namespace tenure::os
