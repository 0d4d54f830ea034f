#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace tenure::cli {
namespace {

Code code_of(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return Code::no_space;
    case EROFS:
      return Code::read_only;
    case EMFILE:
    case ENFILE:
      return Code::no_descriptors;
    case EACCES:
    case EPERM:
      return Code::not_permitted;
    default:
      return Code::input_output;
  }
}

Result<Descriptor> open_file(const std::string& path, int flags, ::mode_t mode) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
  } while (number < 0 && errno == EINTR);
  if (number < 0) return fail(system_error(errno, "cannot open " + escape_controls(path)));
  return Descriptor(number);
}

}  // namespace

Error system_error(int number, const std::string& what) {
  return {code_of(number), what + ": " + std::strerror(number), {}, nullptr};
}

Result<void> write_all(int descriptor, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(system_error(errno, "cannot write " + escape_controls(name)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> read_all(int descriptor, std::size_t most, std::string_view name) {
  std::string bytes;
  std::array<char, 4096> part{};
  while (true) {
    const ::ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error(errno, "cannot read " + escape_controls(name)));
    if (got == 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most) {
      return fail(Code::limit_reached, escape_controls(name) + " has more than " + std::to_string(most) + " bytes");
    }
  }
}

Result<Descriptor> open_to_read(const std::string& path) {
  return open_file(path, O_RDONLY, 0);
}

Result<Descriptor> open_to_write(const std::string& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

Result<NewFile> NewFile::prepare(const std::string& path) {
  struct ::stat there{};
  if (::lstat(path.c_str(), &there) == 0) {
    return fail(Code::usage, escape_controls(path) + " exists already: a handle is written to a new file only");
  }
  std::string temporary = path + ".new-" + std::to_string(::getpid());
  auto descriptor = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!descriptor) return fail(descriptor.error());
  return NewFile(path, std::move(temporary), std::move(*descriptor));
}

NewFile::~NewFile() {
  if (descriptor_.open()) ::unlink(temporary_.c_str());
}

Result<void> NewFile::publish(std::string_view bytes) {
  if (auto written = write_all(descriptor_.get(), bytes, path_); !written) return written;
  // link(2) refuses a name that came into being meanwhile, as rename(2) would not.
  if (::link(temporary_.c_str(), path_.c_str()) != 0) {
    return fail(system_error(errno, "cannot make " + escape_controls(path_)));
  }
  return {};
}

}  // namespace tenure::cli
