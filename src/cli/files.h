// The few files that the program itself reads and writes: handles and the status file.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "tenure/error.h"

namespace tenure::cli {

using base::Descriptor;

// `name` is for the message.
Result<void> write_all(int descriptor, std::string_view bytes, std::string_view name);
// Code::limit_reached beyond `most` bytes.
Result<std::string> read_all(int descriptor, std::size_t most, std::string_view name);

Result<Descriptor> open_to_read(const std::string& path);
// Made (0666 less the umask) or emptied.
Result<Descriptor> open_to_write(const std::string& path);

// A file that appears whole or not at all, 0600, where none was before: Code::usage if one is there.
class NewFile {
 public:
  // Looks that `path` is free and that a file can be made beside it.
  static Result<NewFile> prepare(const std::string& path);
  NewFile(NewFile&&) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();
  Result<void> publish(std::string_view bytes);

 private:
  NewFile(std::string path, std::string temporary, Descriptor descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(std::move(descriptor)) {}
  std::string path_;
  std::string temporary_;
  Descriptor descriptor_;
};

// An error from errno.
Error system_error(int number, const std::string& what);

}  // namespace tenure::cli
