#include "os/linux/stable_content.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "os/linux/system_error.h"

namespace tenure::os {
namespace {

// A write is over within microseconds unless its thread lost the processor; then within some turns of the scheduler.
constexpr int kYields = 8;
constexpr int kMostReadings = 64;
constexpr long kNapNanoseconds = 1'000'000;

struct flock mark_byte(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = std::numeric_limits<off_t>::max() - 1;
  lock.l_len = 1;
  return lock;
}

// Stands while a file is rewritten. Where the file system has no such locks, readers have their two readings alone.
class WriteMark {
 public:
  explicit WriteMark(int descriptor) : descriptor_(descriptor) { set(F_WRLCK); }
  WriteMark(const WriteMark&) = delete;
  WriteMark& operator=(const WriteMark&) = delete;
  ~WriteMark() { set(F_UNLCK); }

 private:
  void set(short type) const {
    struct flock lock = mark_byte(type);
    fcntl(descriptor_, F_OFD_SETLK, &lock);
  }
  int descriptor_;
};

bool is_marked(int descriptor) {
  struct flock lock = mark_byte(F_RDLCK);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void pause_reading(int attempt) {
  if (attempt < kYields) {
    sched_yield();
    return;
  }
  const timespec nap{0, kNapNanoseconds};
  ppoll(nullptr, 0, &nap, nullptr);
}

std::string padded(std::string_view bytes, std::size_t length) {
  std::string out(bytes);
  if (out.size() >= length) return out;
  const bool line = out.ends_with('\n');
  if (line) out.pop_back();
  out.resize(length - (line ? 1 : 0), ' ');
  if (line) out += '\n';
  return out;
}

// Where the file system cannot reserve, the write itself will tell.
Result<void> reserve(const Folder& folder, const std::string& name, int descriptor, std::size_t length) {
  const int done =
      retry_interrupted([&] { return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(length)); });
  if (done == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return system_failure(errno, "reserve room for", folder.path + "/" + name);
}

// The buffer grows with what is there, up to one byte more than is allowed: that byte tells of a file that is too long.
Result<std::string> read_once(const Folder& folder, const std::string& name, const OpenFile& file,
                              std::size_t max_bytes) {
  std::string bytes(std::min(max_bytes, static_cast<std::size_t>(file.status.st_size)) + 1, '\0');
  std::size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t got = retry_interrupted([&] {
      return pread(file.descriptor.get(), bytes.data() + length, bytes.size() - length, static_cast<off_t>(length));
    });
    if (got < 0) return system_failure(errno, "read", folder.path + "/" + name);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length == bytes.size()) bytes.resize(std::min(max_bytes + 1, 2 * length));
  }
  bytes.resize(length);
  if (length > max_bytes) {
    return odd(folder, name, "is longer than the limit of " + std::to_string(max_bytes) + " bytes");
  }
  return bytes;
}

}  // namespace

Result<void> rewrite_in_place(const Folder& folder, const std::string& name, const OpenFile& file,
                              std::string_view bytes, bool durable) {
  const int descriptor = file.descriptor.get();
  const auto former = static_cast<std::size_t>(file.status.st_size);
  const std::string content = padded(bytes, former);
  if (content.size() > former) {
    if (auto reserved = reserve(folder, name, descriptor, content.size()); !reserved) return reserved;
  }
  const WriteMark mark(descriptor);
  const ssize_t put = retry_interrupted([&] { return pwrite(descriptor, content.data(), content.size(), 0); });
  if (put < 0) return system_failure(errno, "write", folder.path + "/" + name);
  if (static_cast<std::size_t>(put) != content.size()) {
    // A part of it stands. Going on is the only way to a whole file.
    if (auto rest = write_whole(folder, name, descriptor, content); !rest) {
      return fail(Code::unknown_outcome, "half rewritten: " + rest.error().message, rest.error().remedy);
    }
  }
  return durable ? sync_data(folder, name, descriptor) : Result<void>{};
}

Result<std::optional<std::string>> read_stable(const Folder& folder, const std::string& name, const OpenFile& file,
                                               std::size_t max_bytes) {
  if (file.status.st_size > static_cast<off_t>(max_bytes)) {
    return odd(folder, name,
               "has " + std::to_string(file.status.st_size) + " bytes; the limit is " + std::to_string(max_bytes));
  }
  auto former = read_once(folder, name, file, max_bytes);
  if (!former) return fail(former.error());
  for (int attempt = 0; attempt < kMostReadings; ++attempt) {
    // A mark that stands for so long is that of a stopped process, which no write is waiting for.
    const bool marked = attempt + 1 < kMostReadings && is_marked(file.descriptor.get());
    if (marked) pause_reading(attempt);
    auto again = read_once(folder, name, file, max_bytes);
    if (!again) return fail(again.error());
    if (!marked && *again == *former) return std::move(*again);
    former = std::move(again);
  }
  return std::nullopt;
}

}  // namespace tenure::os
