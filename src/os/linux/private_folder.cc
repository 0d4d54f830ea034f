#include "os/linux/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/linux/fd.h"

namespace tenure::os {
namespace {

Fd open_private(const std::string& folder) {
  Fd fd(retry_interrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
  struct stat status = {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return {};
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) return {};
  return fd;
}

}  // namespace

bool private_file_exists(const std::string& folder, const std::string& name) {
  const Fd fd = open_private(folder);
  if (!fd) return false;
  struct stat status = {};
  if (::fstatat(fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
}

bool make_private_file(const std::string& folder, const std::string& name, std::string_view bytes) {
  (void)::mkdir(folder.c_str(), 0700);
  const Fd fd = open_private(folder);
  if (!fd) return false;
  const Fd file(retry_interrupted([&] {
    return ::openat(fd.get(), name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  }));
  if (!file) return false;
  const auto written = retry_interrupted([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
  const auto synced = [](const Fd& each) { return retry_interrupted([&] { return ::fsync(each.get()); }) == 0; };
  return written == static_cast<ssize_t>(bytes.size()) && synced(file) && synced(fd);
}

}  // namespace tenure::os
