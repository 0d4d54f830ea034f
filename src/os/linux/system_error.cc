#include "os/linux/system_error.h"

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace tenure::os {
namespace {

std::string remedy_of(int error) {
  switch (error) {
    case ENOSPC:
      return "make room on that file system";
    case EDQUOT:
      return "make room within the quota, or have it raised";
    case EROFS:
      return "mount it for writing, or choose another folder";
    case EMFILE:
      return "close files, or raise the limit of this process (ulimit -n)";
    case ENFILE:
      return "raise the system's limit of open files (sysctl fs.file-max)";
    default:
      return {};
  }
}

}  // namespace

Code code_of(int error) noexcept {
  switch (error) {
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

std::string system_words(int error) {
  const char* words = strerrordesc_np(error);
  const char* name = strerrorname_np(error);
  if (words == nullptr || name == nullptr) return "error " + std::to_string(error);
  return std::string(words) + " (" + name + ")";
}

std::unexpected<Error> system_failure(int error, std::string_view doing, std::string_view path) {
  return fail(code_of(error), "cannot " + std::string(doing) + " " + escape_controls(path) + ": " + system_words(error),
              remedy_of(error));
}

}  // namespace tenure::os
